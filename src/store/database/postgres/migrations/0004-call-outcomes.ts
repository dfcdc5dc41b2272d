import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The outcome of hosted tool calls. Calls of earlier releases and servers have none and count as finished. */
export const callOutcomesInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(`alter table tool_exchanges add column outcome text collate "C"`).execute(db);
  },
};
