import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Suspended runs, decisions of model turns, and the task versions that a worker can read. */
export const suspendedRunsInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const TEXT = `text collate "C"`;

const STATEMENTS = [
  `alter table responses
    add column due_at bigint,
    add column turn_attempts ${TEXT},
    add column restart_steps bigint not null default 0`,
  `alter table tool_turns add column decision ${TEXT}`,
  `alter table workers add column task_version bigint`,
];
