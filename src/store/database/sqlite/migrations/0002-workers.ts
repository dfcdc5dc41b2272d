import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Records which worker makes which response, and what another worker needs to continue it. */
export const workers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("workers")
      // Numbers are never reused.
      .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement().notNull())
      .addColumn("host", "text", (column) => column.notNull())
      .addColumn("pid", "integer", (column) => column.notNull())
      .addColumn("expires_at", "integer", (column) => column.notNull())
      .execute();

    await db.schema.alterTable("responses").addColumn("worker", "integer").execute();
    await db.schema.alterTable("responses").addColumn("task", "text").execute();
    await db.schema
      .alterTable("responses")
      .addColumn("streamed", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .alterTable("responses")
      .addColumn("stop_asked", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .createIndex("live_responses")
      .on("responses")
      .column("worker")
      .where(sql.ref("status"), "in", sql`('queued', 'in_progress')`)
      .execute();

    // The journal's rows belong to a process that has ended.
    await db.schema.alterTable("event_journal").renameTo("event_journal_before_workers").execute();
    await db.schema
      .createTable("event_journal")
      .addColumn("worker", "integer", (column) => column.notNull())
      .addColumn("position", "integer", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("event_journal_of_worker", ["worker", "position"])
      // A worker removed as dead cannot add rows.
      .addForeignKeyConstraint("event_journal_needs_worker", ["worker"], "workers", ["id"])
      .modifyEnd(sql`without rowid`)
      .execute();
    await sql`insert into workers (id, host, pid, expires_at) select 1, '', 0, 0 where exists (select 1 from event_journal_before_workers)`.execute(
      db,
    );
    await sql`insert into event_journal (worker, position, body) select 1, position, body from event_journal_before_workers`.execute(
      db,
    );
    await db.schema.dropTable("event_journal_before_workers").execute();
  },
};
