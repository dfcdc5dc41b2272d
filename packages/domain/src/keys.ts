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
}

export interface KeyFinder {
  /** Finds a key by its `hashApiKey`. Null if it is unknown, revoked or expired. */
  findByHash(hash: string): Promise<KnownKey | null>;
}
