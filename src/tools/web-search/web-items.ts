import type { WebSearchCall } from "@antiphon/contracts/responses-api/types.ts";
import type { Citable, ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import type { Hit } from "./providers/search-provider.ts";
import type { WebSession } from "./web-session.ts";

export interface Names {
  /** The id of the item. */
  readonly id: string;
}

type Action = NonNullable<WebSearchCall["action"]>;

const SOURCES_INCLUDE = "web_search_call.action.sources";
const RESULTS_INCLUDE = "web_search_call.results";

export function startedCall({ id }: Names): WebSearchCall {
  return { id, type: "web_search_call", status: "in_progress" };
}

/** A failed call; the model is told why. */
export function failedCall({ id }: Names, action: Action | null, reason: string): ToolOutcome {
  const item = { id, type: "web_search_call" as const, status: "failed" as const };
  return { type: "ran", item: action === null ? item : { ...item, action }, output: reason, parts: [], sources: [] };
}

export interface Found {
  readonly action: Action;
  /** Every hit of a search, shown to the model or not. */
  readonly hits: readonly Hit[];
  readonly text: string;
  readonly sources: readonly Citable[];
  readonly isSearch: boolean;
}

/** A successful call, with the parts requested in `include`. */
export function ranCall({ scope, settings }: WebSession, { id }: Names, result: Found): ToolOutcome {
  const { action, hits, text, sources, isSearch } = result;
  const urls = hits.map(({ url, title }) => ({ type: "url" as const, url, ...(title === "" ? {} : { title }) }));
  const withSources = isSearch && action.type === "search" && scope.include.includes(SOURCES_INCLUDE);
  const results = isSearch && scope.include.includes(RESULTS_INCLUDE) ? { results: hits.map(shownHit) } : {};
  return {
    type: "ran",
    item: {
      id,
      type: "web_search_call",
      status: "completed",
      action: withSources ? { ...action, sources: urls } : action,
      ...results,
    },
    output: settings.charactersMax === null ? text : text.slice(0, settings.charactersMax),
    parts: [],
    sources,
    usage: { webSearches: isSearch ? 1 : 0 },
  };
}

function shownHit({ title, url, snippet, date }: Hit): Record<string, unknown> {
  return { title, url, snippet, published: date };
}
