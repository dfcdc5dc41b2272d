import { type Kysely, sql } from "kysely";
import { type StorageQuota, StorageQuotaExceeded } from "../../responses-api/ports.ts";
import type { Owner } from "../../runs/ports.ts";
import { dialectal } from "../database/dialectal.ts";
import type { Database } from "../database/schema.ts";
import { foldUsage } from "../postgres/count-postgres-usage.ts";

/** The rows that together tell how much is stored for each owner. */
const USAGE = dialectal(
  sql`owner_usage`,
  () => sql`(select organization, project, bytes from owner_usage
    union all select organization, project, bytes from owner_usage_changes) as owner_usage`,
);
/** An owner with more rows gets fewer. */
const ROWS_MAX = 1_000;

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
    const { rows } = await sql<{ readonly count: number; readonly stored: number }>`
      select count(*) as count, coalesce(sum(bytes), 0) as stored from ${USAGE}
      where organization = ${owner.organization} and project = ${owner.project}`.execute(this.#db);
    const { count, stored } = rows[0] ?? { count: 0, stored: 0 };
    if (count > ROWS_MAX) await foldUsage(this.#db, owner);
    if (stored + bytes > this.#bytesMax) throw new StorageQuotaExceeded(this.#bytesMax);
  }
}
