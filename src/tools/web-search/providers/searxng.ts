import { isRecord } from "@antiphon/base/json/records.ts";
import { askProvider, hitsOf, type ProviderOptions } from "./ask-provider.ts";
import { SearchFailed, type SearchProvider } from "./search-provider.ts";
import { siteQuery } from "./site-query.ts";

/** SearXNG's `/search` with `format=json`. Source: docs.searxng.org, Search API. */
export function searxng(options: ProviderOptions): SearchProvider {
  return {
    name: "searxng",
    search: async ({ text, domains, recency, country }, signal) => {
      const query = {
        q: siteQuery(text, domains),
        format: "json",
        ...(recency === null ? {} : { time_range: recency }),
        ...localeOf(country),
      };
      const answer = await askProvider(options, { path: "/search", query }, signal);
      if (!isRecord(answer)) return [];
      const hits = hitsOf(answer["results"], {
        url: "url",
        title: "title",
        snippets: ["content"],
        date: "publishedDate",
      });
      const silent = answer["unresponsive_engines"];
      if (hits.length === 0 && Array.isArray(silent) && silent.length > 0)
        throw new SearchFailed("None of the search engines behind the search server answered.");
      return hits;
    },
  };
}

/**
 * SearXNG expects places as locales: `de-DE` for `DE`, in the most spoken language. Values that are not countries are
 * left out.
 */
function localeOf(country: string | null): { readonly language?: string } {
  if (country === null || !/^[A-Z]{2}$/.test(country)) return {};
  const { language, region } = new Intl.Locale("und", { region: country }).maximize();
  return region === country ? { language: `${language}-${region}` } : {};
}
