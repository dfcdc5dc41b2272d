import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** How often a response was begun again, so that one which ends its process each time is not begun for ever. */
export const runRestarts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("responses")
      .addColumn("restarts", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
