import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** The server tools that a key may use. */
export const keyTools: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("api_keys").addColumn("tools", "text").execute();
  },
};
