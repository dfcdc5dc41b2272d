import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** How a call of a hosted tool came out. The calls of earlier releases have no outcome and count as finished. */
export const callOutcomes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw("alter table tool_exchanges add column outcome text").execute(db);
  },
};
