import type {
  Price,
  RefusedRequest,
  Response,
  ResponseExchange,
  ResponseNote,
  ResponseSummary,
  RunKind,
  ShownToolResult,
} from "../../generated/responses-api/types.ts";
import type { Owner } from "../runs/ports/owner.ts";
import type { PageRequest } from "./responses.ts";

/** Which responses are meant; null members leave nothing out. All of them must fit. */
export interface ResponseFilter {
  readonly statuses: readonly Response["status"][] | null;
  readonly model: string | null;
  readonly kind: RunKind | null;
  readonly isBackground: boolean | null;
  /** In Unix seconds, this one included. */
  readonly createdAfter: number | null;
  /** In Unix seconds, this one excluded. */
  readonly createdBefore: number | null;
  /** Pairs that all have to be there. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly keyId: string | null;
  readonly conversationId: string | null;
  /** The response that they continue. */
  readonly previousId: string | null;
  /** Each has to be in an item of the input or output. */
  readonly words: readonly string[];
}

export interface ResponsePageRequest extends PageRequest {
  readonly filter: ResponseFilter;
}

/** A response in a list. Its price depends on a table that the store does not know. */
export type ListedResponse = Omit<ResponseSummary, "price">;

export interface ResponsePage {
  readonly responses: readonly ListedResponse[];
  /** Whether there may be more. */
  readonly hasMore: boolean;
  /** The response that was looked at last, which need not be on the page; null if there was none. */
  readonly lastId: string | null;
}

export interface ResponseCountRequest {
  /** Its times are not null. */
  readonly filter: ResponseFilter;
  /** Where the first bucket starts, in Unix seconds. */
  readonly from: number;
  readonly bucketSeconds: number;
}

/** Numbers of several responses. Tokens and times only of those that have them. */
export interface CountedResponses {
  readonly runs: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly durationsMs: readonly number[];
  readonly firstTextsMs: readonly number[];
}

export interface ResponseCounts {
  /** By the numbers of their buckets, from 0. */
  readonly buckets: ReadonlyMap<number, CountedResponses>;
  readonly models: ReadonlyMap<string, CountedResponses>;
  /** Whether there were too many; then the oldest ones are not counted. */
  readonly isPartial: boolean;
}

/** A price for each of some models. */
export interface PriceTable {
  /** Null if the table does not have the model. */
  priceOf(model: string, tokens: PricedTokens): Price | null;
}

export interface PricedTokens {
  /** All, cached ones included. */
  readonly inputTokens: number;
  readonly cachedTokens?: number;
  readonly outputTokens: number;
}

/** What is known of how a response was made. */
export interface ResponseRecord {
  /** As `readEventTimes` reads them; null until it has ended, or if they were not recorded. */
  readonly eventTimes: string | null;
  readonly notes: readonly ResponseNote[];
}

/** What other servers were asked for responses. Every method but the last is for one owner. */
export interface ExchangeStore {
  add(owner: Owner, responseId: string, exchange: ResponseExchange): Promise<void>;
  /** Oldest first. */
  list(owner: Owner, responseId: string): Promise<readonly ResponseExchange[]>;
  remove(owner: Owner, responseId: string): Promise<void>;
  /** Removes some of those from before this Unix second. Resolves to how many; 0 once there are none. */
  deleteExpired(before: number): Promise<number>;
}

/** Requests that were refused. Every method is for one owner. */
export interface RefusalStore {
  /** The oldest go if there are too many. */
  add(owner: Owner, refused: RefusedRequest): Promise<void>;
  /** Those from `from` on and before `before`, in Unix seconds, newest first. */
  list(owner: Owner, span: { readonly from: number; readonly before: number }): Promise<readonly RefusedRequest[]>;
}

/** Stored responses as operators look at them. Every method answers for one owner. */
export interface ResponseArchive {
  /** Null if the cursor is unknown. Looks at a limited number of responses at once. */
  list(owner: Owner, page: ResponsePageRequest): Promise<ResponsePage | null>;
  count(owner: Owner, request: ResponseCountRequest): Promise<ResponseCounts>;
  /** Null if the response is unknown. */
  findRecord(owner: Owner, responseId: string): Promise<ResponseRecord | null>;
  /** The beginnings of what the model was shown of the first calls of tools that have ended, oldest first. */
  listToolResults(owner: Owner, responseId: string): Promise<readonly ShownToolResult[]>;
}
