import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Suspended runs, decisions of model turns, and the task versions that a worker can read. */
export const suspendedRuns: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  `alter table responses add column due_at integer`,
  `alter table responses add column turn_attempts text`,
  `alter table responses add column restart_steps integer not null default 0`,
  `alter table tool_turns add column decision text`,
  `alter table workers add column task_version integer`,
];
