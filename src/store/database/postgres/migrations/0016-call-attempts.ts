import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The attempts of hosted tool calls, and what people have found out about those whose outcome is unknown. */
export const callAttemptsInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const column of ["attempts", "settlement"])
      await sql.raw(`alter table tool_exchanges add column ${column} text collate "C"`).execute(db);
  },
};
