import { isRecord } from "@antiphon/base/json/records.ts";
import { askProvider, hitsOf, type ProviderOptions } from "./ask-provider.ts";
import type { SearchProvider } from "./search-provider.ts";

const COUNT_MAX = 20;

/** Tavily's search. Source: docs.tavily.com, Search. */
export function tavily(options: ProviderOptions): SearchProvider {
  return {
    name: "tavily",
    search: async ({ text, count, domains, recency }, signal) => {
      const body = {
        query: text,
        max_results: Math.min(count, COUNT_MAX),
        ...(domains.length === 0 ? {} : { include_domains: domains }),
        ...(recency === null ? {} : { time_range: recency }),
      };
      const headers = { authorization: `Bearer ${options.apiKey ?? ""}` };
      const answer = await askProvider(options, { path: "/search", body, headers }, signal);
      return hitsOf(isRecord(answer) ? answer["results"] : null, {
        url: "url",
        title: "title",
        snippets: ["content"],
        date: "published_date",
      });
    },
  };
}
