import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** When a key expires. */
export const keyEnds: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("api_keys").addColumn("expires_at", "integer").execute();
  },
};
