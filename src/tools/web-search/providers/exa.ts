import { isRecord } from "@antiphon/base/json/records.ts";
import { askProvider, hitsOf, type ProviderOptions } from "./ask-provider.ts";
import type { Recency, SearchProvider } from "./search-provider.ts";

const COUNT_MAX = 25;
const TEXT_CHARACTERS_MAX = 2000;
const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<Recency, number>> = { day: 1, week: 7, month: 31, year: 366 };

/** Exa's search with the beginning of each page's text. Source: docs.exa.ai, Search. */
export function exa(options: ProviderOptions, now: () => number = Date.now): SearchProvider {
  return {
    name: "exa",
    search: async ({ text, count, domains, country, recency }, signal) => {
      const body = {
        query: text,
        numResults: Math.min(count, COUNT_MAX),
        contents: { text: { maxCharacters: TEXT_CHARACTERS_MAX } },
        ...(domains.length === 0 ? {} : { includeDomains: domains }),
        ...(country === null ? {} : { userLocation: country }),
        ...(recency === null ? {} : { startPublishedDate: new Date(now() - DAYS[recency] * DAY_MS).toISOString() }),
      };
      const headers = { "x-api-key": options.apiKey ?? "" };
      const answer = await askProvider(options, { path: "/search", body, headers }, signal);
      return hitsOf(isRecord(answer) ? answer["results"] : null, {
        url: "url",
        title: "title",
        snippets: ["text", "highlights"],
        date: "publishedDate",
      });
    },
  };
}
