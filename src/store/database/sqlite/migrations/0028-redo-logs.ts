import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** How far the redo log of a worker is stored. */
export const redoLogs: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table workers add column redo_position integer not null default 0`.execute(db);
  },
};
