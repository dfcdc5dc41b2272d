import type {
  EffectSettlement,
  Price,
  RefusedRequest,
  Response,
  ResponseEffect,
  ResponseExchange,
  ResponseNote,
  ResponseSummary,
  RunKind,
  ShownToolResult,
} from "@antiphon/contracts/responses-api/types.ts";
import type { FaceName, FaceOrigin } from "./faces.ts";
import type { Owner } from "./owner.ts";
import type { PageRequest } from "./responses.ts";

/** A filter for responses; null members match everything. All members must match. */
export interface ResponseFilter {
  readonly statuses: readonly Response["status"][] | null;
  readonly model: string | null;
  readonly kind: RunKind | null;
  readonly isBackground: boolean | null;
  /** Inclusive, in Unix seconds. */
  readonly createdAfter: number | null;
  /** Exclusive, in Unix seconds. */
  readonly createdBefore: number | null;
  /** Pairs that must all be present. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly keyId: string | null;
  readonly conversationId: string | null;
  /** The response that the listed responses continue. */
  readonly previousId: string | null;
  /** Each word must occur in an item of the input or output. */
  readonly words: readonly string[];
  /** The face whose clients asked to store the responses. */
  readonly askedForBy: FaceName | null;
}

export interface ResponsePageRequest extends PageRequest {
  readonly filter: ResponseFilter;
}

/** A response in a list. Its price depends on a table that the store does not know. */
export type ListedResponse = Omit<ResponseSummary, "price">;

export interface ResponsePage {
  readonly responses: readonly ListedResponse[];
  /** Whether there may be another page. */
  readonly hasMore: boolean;
  /** The last response examined, which need not be on the page; null if there was none. */
  readonly lastId: string | null;
}

export interface ResponseCountRequest {
  /** Its times are not null. */
  readonly filter: ResponseFilter;
  /** Where the first bucket starts, in Unix seconds. */
  readonly from: number;
  readonly bucketSeconds: number;
}

/** Totals of several responses. Tokens and times count only responses that have them. */
export interface CountedResponses {
  readonly runs: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly durationsMs: readonly number[];
  readonly firstTextsMs: readonly number[];
}

export interface ResponseCounts {
  /** Keyed by bucket number, from 0. */
  readonly buckets: ReadonlyMap<number, CountedResponses>;
  readonly models: ReadonlyMap<string, CountedResponses>;
  /** Whether the limit was reached; then the oldest responses are not counted. */
  readonly isPartial: boolean;
}

/** Prices of models. */
export interface PriceTable {
  /** Null if the table does not list the model. */
  priceOf(model: string, tokens: PricedTokens): Price | null;
}

export interface PricedTokens {
  /** All input tokens, cached tokens included. */
  readonly inputTokens: number;
  readonly cachedTokens?: number;
  readonly outputTokens: number;
}

/** Facts about how a response was made. */
export interface ResponseRecord {
  /** In the form that `readEventTimes` reads; null until the response has ended, or if no times were recorded. */
  readonly eventTimes: string | null;
  readonly notes: readonly ResponseNote[];
  /** The face by which it was asked for; null for the Responses API. */
  readonly face: FaceOrigin | null;
}

/** Requests to other servers made for responses. Every method but the last is for one owner. */
export interface ExchangeStore {
  add(owner: Owner, responseId: string, exchange: ResponseExchange): Promise<void>;
  /** Oldest first. */
  list(owner: Owner, responseId: string): Promise<readonly ResponseExchange[]>;
  remove(owner: Owner, responseId: string): Promise<void>;
  /** Removes some entries older than this Unix second. Resolves to their number; 0 once none are left. */
  deleteExpired(before: number): Promise<number>;
}

/** The ledger of calls, for operators. Every method is for one owner. */
export interface EffectStore {
  /** Oldest first. */
  list(owner: Owner, responseId: string): Promise<readonly ResponseEffect[]>;
  /** Resolves to whether the outcome of this call was unknown until now. */
  settle(owner: Owner, effect: EffectPlace, settlement: EffectSettlement): Promise<boolean>;
}

/** A call of a response. */
export interface EffectPlace {
  readonly responseId: string;
  /** The id of its item. */
  readonly itemId: string;
}

/** Refused requests. Every method is for one owner. */
export interface RefusalStore {
  /** Removes the oldest entries if there are too many. */
  add(owner: Owner, refusal: RefusedRequest): Promise<void>;
  /** Entries from `from` (inclusive) to `before` (exclusive), in Unix seconds, newest first. */
  list(owner: Owner, span: { readonly from: number; readonly before: number }): Promise<readonly RefusedRequest[]>;
}

/** Stored responses as operators see them. Every method is for one owner. */
export interface ResponseArchive {
  /** Null if the cursor is unknown. Examines a limited number of responses per call. */
  list(owner: Owner, page: ResponsePageRequest): Promise<ResponsePage | null>;
  count(owner: Owner, request: ResponseCountRequest): Promise<ResponseCounts>;
  /** Null if the response is unknown. */
  findRecord(owner: Owner, responseId: string): Promise<ResponseRecord | null>;
  /** The beginnings of the model's view of tool results, for the first calls that have ended, oldest first. */
  listToolResults(owner: Owner, responseId: string): Promise<readonly ShownToolResult[]>;
}
