/** What a search server is asked. */
export interface SearchQuery {
  readonly text: string;
  /** How many hits are wanted; a provider may give fewer or more. */
  readonly count: number;
  /** Hosts whose pages alone are wanted, with their subdomains; empty for all. A provider may ignore it. */
  readonly domains: readonly string[];
  /** ISO 3166-1 alpha-2 in upper case; null if unknown. */
  readonly country: string | null;
  readonly recency: Recency | null;
}

export type Recency = "day" | "week" | "month" | "year";

export interface Hit {
  readonly url: string;
  readonly title: string;
  readonly snippet: string;
  /** As the provider writes it; null if it gives none. */
  readonly published: string | null;
}

/** A search server. Its address is the operator's own. */
export interface SearchProvider {
  readonly name: string;
  /** Rejects with `SearchFailed`, or with the reason of `signal` if that aborts. */
  search(query: SearchQuery, signal: AbortSignal): Promise<readonly Hit[]>;
}

/** The search server gave no hits. The message is a whole sentence for the model and holds no address or key. */
export class SearchFailed extends Error {
  override readonly name = "SearchFailed";
}
