import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The last 32 characters of an id, then the others: the expression of the indexes by id. */
const timeFirst = (column: string): string =>
  `(substr(${column}, -32) || substr(${column}, 1, length(${column}) - 32))`;
const HAS_ITS_ID = `${timeFirst("id")} = ${timeFirst("old.id")} and id = old.id`;

/**
 * The calls of hosted tools as the model made and saw them. A row is removed with the last stored item of its id, by
 * triggers, because items are removed in several places.
 */
export const toolExchanges: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("tool_exchanges")
      .addColumn("item_id", "text", (column) => column.notNull().unique())
      .addColumn("response_id", "text", (column) => column.notNull())
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("call_id", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("server", "text")
      .addColumn("arguments", "text", (column) => column.notNull())
      .addColumn("effect", "text", (column) => column.notNull())
      .addColumn("output", "text")
      .addColumn("parts", "text")
      .addColumn("item", "text")
      .addColumn("approval_request_id", "text")
      .addColumn("created_at", "integer", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("tool_exchanges_by_approval")
      .unique()
      .on("tool_exchanges")
      .columns(["organization", "project", "approval_request_id"])
      .where(sql.ref("approval_request_id"), "is not", null)
      .execute();
    await db.schema.createIndex("tool_exchanges_by_response").on("tool_exchanges").column("response_id").execute();
    for (const table of ["items", "conversation_items"])
      await sql
        .raw(
          `create trigger ${table}_exchange_removed after delete on ${table}
            when exists (select 1 from tool_exchanges where item_id = old.id)
              and not exists (select 1 from items where ${HAS_ITS_ID})
              and not exists (select 1 from conversation_items where ${HAS_ITS_ID})
            begin delete from tool_exchanges where item_id = old.id; end`,
        )
        .execute(db);
  },
};
