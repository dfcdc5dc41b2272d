import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";

export type WebSearchInput = Extract<ToolInput, { type: `web_search${string}` }>;

/** The tool's options from the request, with defaults filled in. */
export interface WebSettings {
  /** Hosts; empty for all. */
  readonly domains: readonly string[];
  /** Hosts that no page may come from. */
  readonly blockedDomains: readonly string[];
  readonly size: ContextSize;
  /** Null if the request says nothing. */
  readonly place: UserPlace | null;
  /** Whether pages may be fetched. */
  readonly isLive: boolean;
  /** Whether pages can be opened at all; the preview tool only searches. */
  readonly opensPages: boolean;
  /** The limit of one output in characters; null for none. */
  readonly charactersMax: number | null;
  /** Searched for before the model is asked; null for nothing. */
  readonly firstQuery: string | null;
}

export interface UserPlace {
  readonly city: string | null;
  readonly region: string | null;
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  readonly timezone: string | null;
}

/** The sizes of a search's output. */
export interface ContextSize {
  readonly hits: number;
  readonly characters: number;
  /** The number of first pages opened at once. */
  readonly pages: number;
}

const SIZES = {
  low: { hits: 5, characters: 400, pages: 0 },
  medium: { hits: 8, characters: 1000, pages: 0 },
  high: { hits: 10, characters: 2000, pages: 3 },
} as const;

/** Approximately right for most languages. */
const CHARACTERS_PER_TOKEN = 4;

export function isWebSearch(tool: ToolInput): tool is WebSearchInput {
  return tool.type.startsWith("web_search");
}

export function webSettings(tool: WebSearchInput): WebSettings {
  const isFull = tool.type === "web_search" || tool.type === "web_search_2025_08_26";
  const budget = isFull ? tool.return_token_budget : null;
  return {
    domains: isFull ? lowerCase(tool.filters?.allowed_domains) : [],
    blockedDomains: isFull ? lowerCase(tool.filters?.blocked_domains) : [],
    size: SIZES[tool.search_context_size ?? "medium"],
    place: userPlace(tool),
    isLive: !isFull || tool.external_web_access !== false,
    opensPages: isFull,
    firstQuery: (isFull ? tool.first_query?.trim() : null) || null,
    charactersMax: typeof budget === "number" && budget > 0 ? budget * CHARACTERS_PER_TOKEN : null,
  };
}

function lowerCase(domains: readonly string[] | null | undefined): readonly string[] {
  return (domains ?? []).map((domain) => domain.toLowerCase());
}

function userPlace({ user_location: location }: WebSearchInput): UserPlace | null {
  if (location == null) return null;
  const { city = null, region = null, country = null, timezone = null } = location;
  return { city, region, country: country?.toUpperCase() ?? null, timezone };
}

/** The first domain that is not a bare host, such as one with a scheme or a path; null if there is none. */
export function faultyDomain(domains: readonly string[]): string | null {
  return domains.find((domain) => !/^(?:[\p{L}\p{N}_-]+\.)+[\p{L}\p{N}-]{2,}$/u.test(domain)) ?? null;
}
