import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The answers of creates with a key, so that a repeated request gets them again. */
export const createAnswers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table create_keys add column answer text`.execute(db);
  },
};
