import type { Setting } from "../setting.ts";

/** The search server for the web_search tool, and the pages that it opens. */
export const WEB_SEARCH_SETTINGS = {
  webSearchProvider: {
    name: "WEB_SEARCH_PROVIDER",
    section: "Tools",
    kind: "choice",
    default: "auto",
    choices: ["auto", "none", "searxng", "brave", "tavily", "exa", "serper", "mediawiki"],
    text: "Search server of the tool web_search. auto uses the SearXNG at WEB_SEARCH_BASE_URL or, unless FIND_LOCAL_DAEMON is false, on 127.0.0.1:8888, if it responds; its search.formats must include json. none: no web search, and no pages. mediawiki searches one wiki, such as Wikipedia, and needs no key. Without a search server, web_search opens pages and cannot search.",
  },
  webSearchBaseUrl: {
    name: "WEB_SEARCH_BASE_URL",
    section: "Tools",
    kind: "url",
    default: null,
    defaultText:
      "the public address of the provider, http://127.0.0.1:8888 for SearXNG, or https://en.wikipedia.org/w for mediawiki",
    text: "Address of the search server.",
  },
  webSearchApiKey: {
    name: "WEB_SEARCH_API_KEY",
    section: "Tools",
    kind: "secret",
    default: null,
    text: "Key for the search server. SearXNG and mediawiki need none.",
  },
  webSearchTimeoutMs: {
    name: "WEB_SEARCH_TIMEOUT_MS",
    section: "Tools",
    kind: "duration",
    default: 10_000,
    min: 100,
    max: 120_000,
    text: "How long one query to the search server may take.",
  },
  webOpen: {
    name: "WEB_OPEN",
    section: "Tools",
    kind: "choice",
    default: "auto",
    choices: ["auto", "any", "known", "off"],
    text: "Pages that web_search may open. known: only pages named by the user or shown by a search or page in the context. auto: the same beside tools that read private data, otherwise any. off: none. All calls obey EGRESS.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
