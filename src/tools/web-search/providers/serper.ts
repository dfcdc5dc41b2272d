import { isRecord } from "@antiphon/base/json/records.ts";
import { askProvider, hitsOf, type ProviderOptions } from "./ask-provider.ts";
import type { SearchProvider } from "./search-provider.ts";
import { siteQuery } from "./site-query.ts";

const PERIODS = { day: "qdr:d", week: "qdr:w", month: "qdr:m", year: "qdr:y" } as const;

/** Serper's Google search. Source: serper.dev, its playground. */
export function serper(options: ProviderOptions): SearchProvider {
  return {
    name: "serper",
    search: async ({ text, count, domains, country, recency }, signal) => {
      const body = {
        q: siteQuery(text, domains),
        num: count,
        ...(country === null ? {} : { gl: country.toLowerCase() }),
        ...(recency === null ? {} : { tbs: PERIODS[recency] }),
      };
      const headers = { "x-api-key": options.apiKey ?? "" };
      const answer = await askProvider(options, { path: "/search", body, headers }, signal);
      return hitsOf(isRecord(answer) ? answer["organic"] : null, {
        url: "link",
        title: "title",
        snippets: ["snippet"],
        date: "date",
      });
    },
  };
}
