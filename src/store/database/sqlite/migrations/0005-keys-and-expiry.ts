import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Limits and expiry of keys, and an index for expired responses. */
export const keysAndExpiry: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const keys = db.schema.alterTable("api_keys");
    await keys.addColumn("owners", "text").execute();
    await keys.addColumn("last_four", "text", (column) => column.notNull().defaultTo("")).execute();
    await keys.addColumn("requests_per_minute", "integer").execute();
    await keys.addColumn("tokens_per_minute", "integer").execute();
    await keys.addColumn("revoked_at", "integer").execute();

    await db.schema.createIndex("responses_by_age").on("responses").columns(["created_at", "id"]).execute();
    await db.schema.createIndex("responses_by_previous").on("responses").column("previous_response_id").execute();
  },
};
