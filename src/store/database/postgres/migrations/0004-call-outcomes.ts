import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** How a call of a hosted tool came out. Older calls, and those of older servers, have none and count as finished. */
export const callOutcomesInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(`alter table tool_exchanges add column outcome text collate "C"`).execute(db);
  },
};
