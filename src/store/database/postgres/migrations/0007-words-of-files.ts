import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * The columns of the table that a chunk is part of, and the languages of the files of a store. Files from before have
 * neither: their words are in English forms, which every search looks for.
 */
export const wordsOfFilesInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const TEXT = `text collate "C"`;

const STATEMENTS = [
  `alter table vector_store_chunks add column columns ${TEXT}`,
  `alter table vector_stores add column languages ${TEXT}`,
];
