import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The face of the API by which a response was asked for, and what is needed to show it there. */
export const faces: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [`alter table responses add column face text`, `alter table responses add column face_notes text`];
