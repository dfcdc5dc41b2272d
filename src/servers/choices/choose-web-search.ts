import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";
import { isSearxng } from "../../tools/web-search/find-searxng.ts";
import { PageReader } from "../../tools/web-search/pages/page-reader.ts";
import type { ProviderOptions } from "../../tools/web-search/providers/ask-provider.ts";
import { brave } from "../../tools/web-search/providers/brave.ts";
import { exa } from "../../tools/web-search/providers/exa.ts";
import { mediawiki } from "../../tools/web-search/providers/mediawiki.ts";
import type { SearchProvider } from "../../tools/web-search/providers/search-provider.ts";
import { searxng } from "../../tools/web-search/providers/searxng.ts";
import { serper } from "../../tools/web-search/providers/serper.ts";
import { tavily } from "../../tools/web-search/providers/tavily.ts";
import { SearchCache } from "../../tools/web-search/search-cache.ts";
import { webSearchTool } from "../../tools/web-search/web-search-tool.ts";

type ProviderName = Exclude<Config["webSearchProvider"], "auto" | "none">;

const PROVIDERS: Readonly<Record<ProviderName, (options: ProviderOptions) => SearchProvider>> = {
  searxng,
  brave,
  tavily,
  exa,
  serper,
  mediawiki,
};

const ADDRESSES: Readonly<Record<ProviderName, string>> = {
  searxng: "http://127.0.0.1:8888",
  brave: "https://api.search.brave.com",
  tavily: "https://api.tavily.com",
  exa: "https://api.exa.ai",
  serper: "https://google.serper.dev",
  mediawiki: "https://en.wikipedia.org/w",
};

const KEYLESS: ReadonlySet<string> = new Set<ProviderName>(["searxng", "mediawiki"]);

/** The web_search tool with the configured search server. Throws `ConfigError` if the server's key is missing. */
export async function chooseWebSearch(config: Config, egress: Egress): Promise<HostedTool> {
  const provider = await findSearchProvider(config);
  const { webOpen: open, webSearchProvider } = config;
  if (provider === null && (open === "off" || webSearchProvider === "none")) return webSearchTool(null);
  const searches = provider === null ? null : new SearchCache(provider);
  return webSearchTool({ searches, pages: new PageReader(egress), open });
}

/** The configured search server, or one found on this machine; null if there is none. Throws `ConfigError`. */
export async function findSearchProvider(config: Config): Promise<SearchProvider | null> {
  const { webSearchProvider: provider, webSearchBaseUrl, webSearchApiKey, webSearchTimeoutMs: timeoutMs } = config;
  if (provider === "none" || (provider === "auto" && webSearchBaseUrl === null && !config.findLocalDaemon)) return null;
  const baseUrl = webSearchBaseUrl ?? ADDRESSES[provider === "auto" ? "searxng" : provider];
  if (provider === "auto") return (await isSearxng(baseUrl)) ? searxng({ baseUrl, apiKey: null, timeoutMs }) : null;
  const apiKey = webSearchApiKey?.reveal() ?? null;
  if (apiKey === null && !KEYLESS.has(provider))
    throw new ConfigError([`WEB_SEARCH_PROVIDER is ${provider}, which needs a key. Set WEB_SEARCH_API_KEY.`]);
  return PROVIDERS[provider]({ baseUrl, apiKey, timeoutMs });
}
