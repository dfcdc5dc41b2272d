/** A query to a search server. */
export interface SearchQuery {
  readonly text: string;
  /** The number of hits requested; a provider may return fewer or more. */
  readonly count: number;
  /** Restricts hits to these hosts and their subdomains; empty for all. A provider may ignore it. */
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
  /** In the provider's format; null if unknown. */
  readonly date: string | null;
}

/** A search server. Its address comes from the operator. */
export interface SearchProvider {
  readonly name: string;
  /** What it searches, as the model is told; absent for the whole web. */
  readonly covers?: string;
  /** Rejects with `SearchFailed`, or with the reason of `signal` if it aborts. */
  search(query: SearchQuery, signal: AbortSignal): Promise<readonly Hit[]>;
}

/** The search server returned no hits. The message is a whole sentence for the model, without address and key. */
export class SearchFailed extends Error {
  override readonly name = "SearchFailed";
}
