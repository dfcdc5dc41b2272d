import type { ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import { readArguments } from "../read-arguments.ts";
import { type Page, PageFailed } from "./pages/page-reader.ts";
import { type Hit, type Recency, SearchFailed } from "./providers/search-provider.ts";
import { failedCall, type Names, ranCall } from "./web-items.ts";
import type { WebSession } from "./web-session.ts";

const QUERIES_MAX = 4;
const QUERY_CHARACTERS_MAX = 400;
/** More than are shown, because hits of several queries overlap and some are outside the allowed domains. */
const HITS_ASKED = 10;
const PAGE_CHARACTERS_MAX = 6000;
const RECENCIES: readonly string[] = ["day", "week", "month", "year"] satisfies readonly Recency[];

export const SEARCH_FUNCTION = {
  name: "web_search",
  description: "Searches the web and returns numbered hits. Use short queries, several at once for several aspects.",
  parameters: {
    type: "object",
    properties: {
      queries: { type: "array", items: { type: "string" }, minItems: 1, maxItems: QUERIES_MAX },
      recency: { type: "string", enum: RECENCIES, description: "Only pages of the last day, week, month or year." },
    },
    required: ["queries"],
  },
} as const;

/** `covers` is what the search server searches; null for the whole web. */
export function searchFunction(covers: string | null): Omit<typeof SEARCH_FUNCTION, "description"> & {
  readonly description: string;
} {
  if (covers === null) return SEARCH_FUNCTION;
  const description = SEARCH_FUNCTION.description.replace("the web", `${covers}, not the whole web,`);
  return { ...SEARCH_FUNCTION, description };
}

/** Runs a search. Fails only if no query succeeded. */
export async function search(
  session: WebSession,
  names: Names,
  args: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const request = readSearch(args);
  if (request === null) return failedCall(names, null, "The arguments need `queries`, a list of texts.");
  const action = { type: "search" as const, query: request.queries[0] ?? "", queries: [...request.queries] };
  const lists = await Promise.all(request.queries.map((text) => hitsOrFault(session, text, request.recency, signal)));
  const faults = lists.filter((list) => typeof list === "string");
  if (faults.length === lists.length) return failedCall(names, action, faults[0] ?? "The search failed.");
  const hits = mergedHits(lists.filter((list) => typeof list !== "string")).filter(({ url }) => session.allows(url));
  const topHits = hits.slice(0, session.settings.size.hits);
  const sources = topHits.map(({ url, title }) => session.cite(url, title));
  const pages = await firstPages(session, topHits, signal);
  const blocks = topHits.map((hit, index) => blockOf(hit, sources[index]?.number ?? 0, session, pages.get(hit.url)));
  const text = blocks.length === 0 ? "Nothing was found. Try other words." : blocks.join("\n\n");
  return ranCall(session, names, { action, hits, text, sources, isSearch: true });
}

interface Asked {
  readonly queries: readonly string[];
  readonly recency: Recency | null;
}

function readSearch(text: string): Asked | null {
  const args = readArguments(text);
  if (args === null) return null;
  const { queries = args["query"], recency } = args; // Many models write one `query`.
  const list: readonly unknown[] = Array.isArray(queries) ? queries : [queries];
  const texts = list.filter((one) => typeof one === "string").map((one) => one.trim().slice(0, QUERY_CHARACTERS_MAX));
  const uniqueQueries = [...new Set(texts)].filter((one) => one !== "").slice(0, QUERIES_MAX);
  return uniqueQueries.length === 0 ? null : { queries: uniqueQueries, recency: isRecency(recency) ? recency : null };
}

function isRecency(value: unknown): value is Recency {
  return typeof value === "string" && RECENCIES.includes(value);
}

/** The hits of one query, or why there are none. */
async function hitsOrFault(
  { services, settings, scope }: WebSession,
  text: string,
  recency: Recency | null,
  signal: AbortSignal,
): Promise<readonly Hit[] | string> {
  const { domains, place } = settings;
  const query = { text, count: HITS_ASKED, domains, country: place?.country ?? null, recency };
  try {
    return (await services.searches?.search(query, scope.owner, signal)) ?? "Nothing can be searched for here.";
  } catch (error) {
    if (error instanceof SearchFailed) return error.message;
    throw error;
  }
}

/** The hits of all queries by rank, without duplicates. */
function mergedHits(lists: readonly (readonly Hit[])[]): readonly Hit[] {
  const hits = new Map<string, Hit>();
  const longest = Math.max(0, ...lists.map((list) => list.length));
  for (let rank = 0; rank < longest; rank += 1) {
    for (const list of lists) {
      const hit = list[rank];
      if (hit !== undefined && !hits.has(hit.url)) hits.set(hit.url, hit);
    }
  }
  return [...hits.values()];
}

/** The first pages, for requests with a large context size. Pages that cannot be opened are left out. */
async function firstPages(
  session: WebSession,
  hits: readonly Hit[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Page>> {
  const { services, settings, scope } = session;
  if (!settings.isLive || services.open === "off") return new Map();
  const openings = hits.slice(0, settings.size.pages).map(async ({ url }) => {
    try {
      return [[url, await services.pages.open(url, scope.owner.project, signal)] as const];
    } catch (error) {
      if (error instanceof PageFailed) return [];
      throw error;
    }
  });
  return new Map((await Promise.all(openings)).flat());
}

function blockOf(hit: Hit, number: number, { settings }: WebSession, page: Page | undefined): string {
  const date = hit.date === null ? "" : ` (${hit.date})`;
  const text = page?.lines.join("\n").slice(0, PAGE_CHARACTERS_MAX) ?? hit.snippet.slice(0, settings.size.characters);
  return `[web:${number}] ${hit.title}${date}\n${hit.url}\n${text}`;
}
