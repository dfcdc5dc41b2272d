import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The column of SQLite's redo logs, so that both databases have the same tables. */
export const redoLogsInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table workers add column redo_position bigint not null default 0`.execute(db);
  },
};
