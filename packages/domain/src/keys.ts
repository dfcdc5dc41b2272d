import type { Owner } from "./owner.ts";
import type { RatedKey } from "./rates.ts";

/** A valid API key, without the key itself, which is never stored. */
export interface KnownKey {
  readonly id: string;
  /** The owners that the key may act for. The first is used unless the routing headers name another. */
  readonly owners: readonly [Owner, ...Owner[]];
  /** If false, the key has no owner of its own and the routing headers are ignored. */
  readonly isRouted: boolean;
  readonly limits: RatedKey["limits"];
  /** The kinds of this server's tools that the key may use; null or absent allows all. */
  readonly tools?: readonly string[] | null;
  /** The name that people gave the key; absent for a configured key. */
  readonly name?: string;
  /** Whether the key may see usage and change keys; false if absent. */
  readonly isOperator?: boolean;
  /** Null or absent: no budget. */
  readonly budget?: KeyBudget | null;
}

/** What a key may use in a period of UTC. A week begins on Monday; `total` is all the time of the key. */
export interface KeyBudget {
  readonly period: BudgetPeriod;
  /** Money in billionths of the currency of the prices; null for no limit. */
  readonly nanos: number | null;
  /** Input and output tokens; null for no limit. */
  readonly tokens: number | null;
}

export type BudgetPeriod = "day" | "week" | "month" | "total";

export interface KeyFinder {
  /** Finds a key by its `hashApiKey`. Null if it is unknown, revoked or expired. */
  findByHash(hash: string): Promise<KnownKey | null>;
}

/** The stored form of a key, without its secret. */
export interface ApiKey extends KnownKey {
  readonly name: string;
  readonly isOperator: boolean;
  readonly budget: KeyBudget | null;
  /** The last characters of the key, for people. */
  readonly lastFour: string;
  /** In Unix seconds, like the next two. */
  readonly createdAt: number;
  /** When the key expires; null if it never does. */
  readonly expiresAt: number | null;
  /** When the key was revoked; null if it was not. */
  readonly revokedAt: number | null;
}

/** `hash`: from `hashApiKey`. */
export type NewKey = Pick<ApiKey, "name" | "lastFour" | "owners" | "isRouted" | "limits" | "tools" | "expiresAt"> &
  Partial<Pick<ApiKey, "isOperator" | "budget">> & { readonly hash: string };

/** What changes of a key; absent members stay. */
export type KeyChange = Partial<Pick<ApiKey, "name" | "budget">>;

/** Why a key was not revoked. */
export type RevokeRefusal = "unknown" | "last_operator";

/** The stored API keys. Keys are found by their hash; the keys themselves are not stored. */
export interface KeyStore extends KeyFinder {
  addKey(key: NewKey): Promise<ApiKey>;
  /** Returns false if a first key already exists, perhaps from another server that starts at the same time. */
  addFirstKey(key: NewKey): Promise<boolean>;
  /** All keys, oldest first, including revoked and expired ones. */
  listKeys(): Promise<readonly ApiKey[]>;
  /** Null if there is no such key. */
  findKey(id: string): Promise<ApiKey | null>;
  /** Changes a key that is not revoked. Returns null if there is none. */
  changeKey(id: string, change: KeyChange): Promise<ApiKey | null>;
  /** Returns why nothing was revoked, otherwise null. `last_operator`: no other operator's key works, and one must. */
  revokeKey(id: string, mustLeave?: "an operator" | "nothing"): Promise<RevokeRefusal | null>;
  /** The number of keys, including revoked and expired ones. */
  count(): Promise<number>;
}
