import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const firstTables: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("responses")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("model", "text", (column) => column.notNull())
      .addColumn("previous_response_id", "text")
      .addColumn("created_at", "integer", (column) => column.notNull())
      .addColumn("completed_at", "integer")
      .addColumn("body", "text", (column) => column.notNull())
      .addColumn("version", "integer", (column) => column.notNull())
      .execute();

    await db.schema
      .createTable("items")
      // SQLite numbers the rows itself.
      .addColumn("sequence", "integer", (column) => column.primaryKey().notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("response_id", "text", (column) => column.notNull())
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("direction", "text", (column) => column.notNull())
      .addColumn("position", "integer", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addUniqueConstraint("items_of_response", ["response_id", "direction", "position"])
      .execute();
    await db.schema.createIndex("items_by_id").on("items").columns(["id", "organization", "project"]).execute();

    await db.schema
      .createTable("event_chunks")
      .addColumn("response_id", "text", (column) => column.notNull())
      .addColumn("first_number", "integer", (column) => column.notNull())
      .addColumn("last_number", "integer", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      // By the last number, because a reader looks for chunks that end after its cursor.
      .addPrimaryKeyConstraint("event_chunks_of_response", ["response_id", "last_number"])
      .execute();

    await db.schema
      .createTable("event_journal")
      .addColumn("position", "integer", (column) => column.primaryKey().notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .execute();

    await db.schema
      .createTable("api_keys")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("hash", "text", (column) => column.notNull().unique())
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("created_at", "integer", (column) => column.notNull())
      .execute();
  },
};
