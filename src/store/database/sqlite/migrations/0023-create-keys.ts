import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Keys that clients give to their creates, and what was created under them. */
export const createKeys: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  `create table create_keys (
    organization text not null,
    project text not null,
    operation text not null,
    key text not null,
    fingerprint text not null,
    subject_id text,
    is_kept integer not null,
    worker integer,
    repeats integer not null,
    created_at integer not null,
    primary key (organization, project, operation, key)) without rowid`,
  `create index create_keys_by_age on create_keys (created_at)`,
];
