import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Deleted data that stored responses still refer to, and deleted data that is not erased yet. */
export const whatIsReferredTo: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const responses = db.schema.alterTable("responses");
    await responses.addColumn("conversation_id", "text").execute();
    await responses.addColumn("conversation_seen", "integer").execute();
    await sql`create index responses_of_conversation on responses (conversation_id) where conversation_id is not null`.execute(
      db,
    );

    await db.schema
      .createTable("ancestors")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("previous_response_id", "text")
      .addColumn("conversation_id", "text")
      .addColumn("conversation_seen", "integer")
      .addColumn("is_unused", "integer", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("ancestors_by_previous").on("ancestors").column("previous_response_id").execute();
    await sql`create index ancestors_of_conversation on ancestors (conversation_id) where conversation_id is not null`.execute(
      db,
    );
    await sql`create index ancestors_unused on ancestors (id) where is_unused = 1`.execute(db);

    await db.schema
      .createTable("deleted_conversations")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .execute();
    await sql`insert into deleted_conversations (id)
      select distinct conversation_id from conversation_items where conversation_id not in (select id from conversations)`.execute(
      db,
    );

    await db.schema
      .createTable("split_calls")
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("call_id", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("split_call_once", ["conversation_id", "call_id"])
      .execute();

    await db.schema.alterTable("workers").addColumn("started", "text").execute();
  },
};
