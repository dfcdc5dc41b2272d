import type { Kysely } from "kysely";
import { type StorageQuota, StorageQuotaExceeded } from "../../responses-api/ports.ts";
import type { Owner } from "../../runs/ports.ts";
import type { Database } from "../database/schema.ts";

/** Compares the bytes stored for an owner, as counted by `count-usage.ts`, with the limit. */
export class StoredQuota implements StorageQuota {
  readonly #db: Kysely<Database>;
  readonly #bytesMax: number;

  /** With `bytesMax` 0 there is no limit, and nothing is looked up. */
  constructor(db: Kysely<Database>, bytesMax: number) {
    this.#db = db;
    this.#bytesMax = bytesMax;
  }

  async requireRoom(owner: Owner, bytes = 1): Promise<void> {
    if (this.#bytesMax === 0) return;
    const row = await this.#db
      .selectFrom("owner_usage")
      .select("bytes")
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .executeTakeFirst();
    if ((row?.bytes ?? 0) + bytes > this.#bytesMax) throw new StorageQuotaExceeded(this.#bytesMax);
  }
}
