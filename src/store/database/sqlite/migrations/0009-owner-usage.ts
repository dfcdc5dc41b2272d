import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** The stored bytes of each owner, if they are limited. */
export const ownerUsage: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("owner_usage")
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("bytes", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("usage_of_owner", ["organization", "project"])
      .execute();
  },
};
