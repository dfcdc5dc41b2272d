import { isRecord } from "@antiphon/base/json/records.ts";
import { askProvider, hitsOf, type ProviderOptions } from "./ask-provider.ts";
import { SearchFailed, type SearchProvider } from "./search-provider.ts";

/** Wikipedia asks its callers to say who they are. */
const USER_AGENT = "Antiphon web_search";

/**
 * A wiki that runs MediaWiki, such as Wikipedia. Needs no key. The base URL is the path of its scripts, such as
 * `https://en.wikipedia.org/w`. Source: mediawiki.org, API:Search and API:Siteinfo.
 */
export function mediawiki(options: ProviderOptions): SearchProvider {
  return {
    name: "mediawiki",
    covers: `the wiki ${new URL(options.baseUrl).host}`,
    search: async ({ text, count }, signal) => {
      const query = {
        action: "query",
        format: "json",
        formatversion: "2",
        list: "search",
        srsearch: text,
        srlimit: String(count),
        srprop: "snippet|timestamp",
        meta: "siteinfo", // Tells the addresses of pages.
        siprop: "general",
      };
      const headers = { "user-agent": USER_AGENT };
      const answer = await askProvider(options, { path: "/api.php", query, headers }, signal);
      const found = isRecord(answer) ? answer["query"] : null;
      if (!isRecord(found)) throw new SearchFailed("The wiki refused the search.");
      const addressOf = pageAddress(found["general"], options.baseUrl);
      const pages = Array.isArray(found["search"]) ? found["search"].filter(isRecord) : [];
      const listed = pages.flatMap((page) => {
        const { title } = page;
        return typeof title === "string" ? [{ ...page, url: addressOf(title) }] : [];
      });
      return hitsOf(listed, { url: "url", title: "title", snippets: ["snippet"], date: "timestamp" });
    },
  };
}

/** The address of a page by its title, from what the wiki says of itself. */
function pageAddress(general: unknown, baseUrl: string): (title: string) => string {
  const { server, articlepath } = isRecord(general) ? general : {};
  const origin = URL.parse(typeof server === "string" ? server : "", baseUrl)?.origin ?? new URL(baseUrl).origin;
  const path = typeof articlepath === "string" && articlepath.includes("$1") ? articlepath : "/index.php?title=$1";
  return (title) => `${origin}${path.replace("$1", () => encodeURIComponent(title.replaceAll(" ", "_")))}`;
}
