import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The face of the API by which a response was asked for, and what is needed to show it there. */
export const facesInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(STATEMENT).execute(db);
  },
};

const TEXT = `text collate "C"`;

const STATEMENT = `alter table responses
  add column face ${TEXT},
  add column face_notes ${TEXT}`;
