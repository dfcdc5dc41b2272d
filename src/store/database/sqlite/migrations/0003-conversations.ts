import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Conversations: histories that outlive their responses, and the response in progress in each. */
export const conversations: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("conversations")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("created_at", "integer", (column) => column.notNull())
      .addColumn("metadata", "text", (column) => column.notNull())
      .execute();

    await db.schema
      .createTable("conversation_items")
      // SQLite numbers the rows itself.
      .addColumn("sequence", "integer", (column) => column.primaryKey().notNull())
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addUniqueConstraint("conversation_item_once", ["conversation_id", "id"])
      .execute();
    await db.schema
      .createIndex("conversation_items_in_order")
      .on("conversation_items")
      .columns(["conversation_id", "sequence"])
      .execute();
    await db.schema
      .createIndex("conversation_items_by_id")
      .on("conversation_items")
      .columns(["id", "organization", "project"])
      .execute();

    await db.schema
      .createTable("conversation_locks")
      .addColumn("conversation_id", "text", (column) => column.primaryKey().notNull())
      .addColumn("response_id", "text", (column) => column.notNull().unique())
      .addColumn("worker", "integer", (column) => column.notNull())
      .execute();
  },
};
