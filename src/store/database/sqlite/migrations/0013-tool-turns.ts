import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * The usage of each turn of a background response with hosted tools, so that sums are right after a crash. A row is
 * removed with its response.
 */
export const toolTurns: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("tool_exchanges")
      .addColumn("turn", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.alterTable("tool_exchanges").addColumn("usage", "text").execute();
    await db.schema
      .createTable("tool_turns")
      .addColumn("response_id", "text", (column) => column.notNull())
      .addColumn("organization", "text", (column) => column.notNull())
      .addColumn("project", "text", (column) => column.notNull())
      .addColumn("number", "integer", (column) => column.notNull())
      .addColumn("usage", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("tool_turns_by_response", ["response_id", "number"])
      .execute();
    await sql
      .raw(
        `create trigger responses_turns_removed after delete on responses
          begin delete from tool_turns where response_id = old.id; end`,
      )
      .execute(db);
  },
};
