import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Counts restarts of a response, so that a response that crashes its process is not restarted forever. */
export const runRestarts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("responses")
      .addColumn("restarts", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
