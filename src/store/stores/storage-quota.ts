import type { Owner } from "@antiphon/domain/owner.ts";
import { type StorageQuota, StorageQuotaExceeded } from "@antiphon/domain/storage.ts";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { dialectal } from "../database/dialectal.ts";
import type { Database } from "../database/schema.ts";
import { foldUsage } from "../owner/postgres/count-postgres-usage.ts";

/** The rows that add up to the stored bytes of an owner. */
const USAGE = dialectal(
  sql`owner_usage`,
  () => sql`(select organization, project, bytes from owner_usage
    union all select organization, project, bytes from owner_usage_changes) as owner_usage`,
);
/** An owner with more rows gets fewer by folding. */
const ROWS_MAX = 1_000;

/** The lock for comparing an owner's stored bytes with a limit and adding to them. */
export function storageLock({ organization, project }: Owner): string {
  return JSON.stringify(["storage", organization, project]);
}

/** Compares the bytes stored for an owner, as counted by `count-usage.ts`, with the limit. */
export class StoredQuota implements StorageQuota {
  readonly #db: Kysely<Database>;
  readonly #bytesMax: number;
  /** The bytes that this process is writing now, by owner. */
  readonly #underWay = new Map<string, number>();

  /** With `bytesMax` 0 there is no limit and no query. */
  constructor(db: Kysely<Database>, bytesMax: number) {
    this.#db = db;
    this.#bytesMax = bytesMax;
  }

  async requireRoom(owner: Owner, bytes = 1): Promise<void> {
    if (this.#bytesMax === 0) return;
    const { rows } = await sql<{ readonly count: number; readonly stored: number }>`
      select count(*) as count, coalesce(sum(bytes), 0) as stored ${usageOf(owner)}`.execute(this.#db);
    const { count, stored } = rows[0] ?? { count: 0, stored: 0 };
    if (count > ROWS_MAX) await foldUsage(this.#db, owner);
    if (stored + bytes > this.#bytesMax) throw this.quotaExceeded();
  }

  quotaExceeded(): StorageQuotaExceeded {
    return new StorageQuotaExceeded(this.#bytesMax);
  }

  /**
   * Whether there is room, as a condition of the statement that stores the bytes. With `storageLock`, concurrent
   * statements do not exceed the limit.
   */
  hasRoom(owner: Owner, bytes: number): RawBuilder<boolean> {
    if (this.#bytesMax === 0) return sql<boolean>`true`;
    return sql<boolean>`(select coalesce(sum(bytes), 0) ${usageOf(owner)}) + ${bytes} <= ${this.#bytesMax}`;
  }

  /**
   * Writes `bytes` if there is room beside this process's current writes. Several processes that write at the same
   * moment may exceed the limit, each by one write.
   */
  async writeWithin<Result>(owner: Owner, bytes: number, write: () => Promise<Result>): Promise<Result> {
    if (this.#bytesMax === 0) return await write();
    const key = storageLock(owner);
    const ahead = this.#underWay.get(key) ?? 0;
    this.#underWay.set(key, ahead + bytes);
    try {
      await this.requireRoom(owner, ahead + bytes);
      return await write();
    } finally {
      const bytesLeft = (this.#underWay.get(key) ?? 0) - bytes;
      if (bytesLeft > 0) this.#underWay.set(key, bytesLeft);
      else this.#underWay.delete(key);
    }
  }
}

function usageOf({ organization, project }: Owner): RawBuilder<unknown> {
  return sql`from ${USAGE} where organization = ${organization} and project = ${project}`;
}
