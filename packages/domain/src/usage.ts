import type { Owner } from "./owner.ts";

/** The kinds of usage that are counted, with the reference's names. */
export type UsageKind =
  | "completions"
  /** Vectors and ranks. */
  | "embeddings"
  | "audio_speeches"
  | "audio_transcriptions"
  | "code_interpreter_sessions"
  | "file_search_calls"
  | "web_search_calls";

/** Prices are counted in billionths of a currency. */
export const NANOS_PER_UNIT = 1_000_000_000;

/** How much was used. */
export interface UsageAmounts {
  /** Answers. */
  readonly requests: number;
  /** Cached tokens included. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** Calls of a tool, sessions, spoken characters, or milliseconds of transcribed sound. */
  readonly calls: number;
  /** The price in billionths of the currency. */
  readonly nanos: number;
}

export const NO_AMOUNTS: UsageAmounts = {
  requests: 0,
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  calls: 0,
  nanos: 0,
};

export function sumOfAmounts(one: UsageAmounts, other: UsageAmounts): UsageAmounts {
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    calls: one.calls + other.calls,
    nanos: one.nanos + other.nanos,
  };
}

/** Who used what. */
export interface UsageSubject {
  readonly owner: Owner;
  /** Null if it is not known. */
  readonly keyId: string | null;
  readonly kind: UsageKind;
  readonly model: string;
  readonly serviceTier: string;
  /** Null if the model has no price. */
  readonly currency: string | null;
}

/** Something that was used. */
export interface UsageCount extends UsageSubject {
  /** When, in Unix seconds. */
  readonly at: number;
  readonly amounts: UsageAmounts;
}

/** By what counts are told apart. */
export type UsageDimension = "project" | "key" | "model" | "serviceTier" | "currency";

/** The seconds of a bucket. */
export type BucketSeconds = 60 | 3600 | 86_400;

export interface UsageQuery {
  /** Null for all kinds. */
  readonly kind: UsageKind | null;
  readonly bucketSeconds: BucketSeconds;
  /** Unix seconds, at the start of a bucket. */
  readonly from: number;
  readonly before: number;
  /** Null matches everything, like the next two. */
  readonly owners: readonly Owner[] | null;
  readonly keyIds: readonly string[] | null;
  readonly models: readonly string[] | null;
  readonly groupBy: readonly UsageDimension[];
}

/** The sum of one group in one bucket. Members that the query does not group by are null. */
export interface UsageSum {
  /** The start of the bucket, in Unix seconds. */
  readonly start: number;
  readonly owner: Owner | null;
  readonly keyId: string | null;
  readonly model: string | null;
  readonly serviceTier: string | null;
  readonly currency: string | null;
  readonly amounts: UsageAmounts;
}

/** What a key has used of its budget. */
export interface KeySpending {
  /** In billionths of the currency of the prices. */
  readonly nanos: number;
  readonly tokens: number;
}

/** The most counts that one call of `add` takes. */
export const COUNTS_ADDED_MAX = 250;

/** The counts of all processes and nodes of a database. */
export interface UsageStore {
  /** Adds all of at most `COUNTS_ADDED_MAX` counts, or none. */
  add(counts: readonly UsageCount[]): Promise<void>;
  /** Sorted by bucket. */
  sum(query: UsageQuery): Promise<readonly UsageSum[]>;
  /** Since the beginning of a day, in Unix seconds. */
  spentSince(keyId: string, day: number): Promise<KeySpending>;
  /** Deletes the counts of minutes before a time in Unix seconds; those of days stay. Resolves to their number. */
  deleteMinutes(before: number): Promise<number>;
}
