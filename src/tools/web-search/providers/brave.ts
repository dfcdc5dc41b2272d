import { isRecord } from "@antiphon/base/json/records.ts";
import { askProvider, hitsOf, type ProviderOptions } from "./ask-provider.ts";
import type { SearchProvider } from "./search-provider.ts";
import { siteQuery } from "./site-query.ts";

const COUNT_MAX = 20;
const QUERY_CHARACTERS_MAX = 400;
const FRESHNESS = { day: "pd", week: "pw", month: "pm", year: "py" } as const;

/** Brave's web search. Source: api-dashboard.search.brave.com, Web Search API. */
export function brave(options: ProviderOptions): SearchProvider {
  return {
    name: "brave",
    search: async ({ text, count, domains, country, recency }, signal) => {
      const query = {
        q: siteQuery(text, domains).slice(0, QUERY_CHARACTERS_MAX),
        count: String(Math.min(count, COUNT_MAX)),
        ...(country === null ? {} : { country }),
        ...(recency === null ? {} : { freshness: FRESHNESS[recency] }),
      };
      const headers = { "x-subscription-token": options.apiKey ?? "" };
      const answer = await askProvider(options, { path: "/res/v1/web/search", query, headers }, signal);
      const web = isRecord(answer) ? answer["web"] : null;
      return hitsOf(isRecord(web) ? web["results"] : null, {
        url: "url",
        title: "title",
        snippets: ["description", "extra_snippets"],
        date: "page_age",
      });
    },
  };
}
