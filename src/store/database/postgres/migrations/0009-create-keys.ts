import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Keys that clients give to their creates, and what was created under them. */
export const createKeysInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const TEXT = `text collate "C"`;

const STATEMENTS = [
  `create table create_keys (
    organization ${TEXT} not null,
    project ${TEXT} not null,
    operation ${TEXT} not null,
    key ${TEXT} not null,
    fingerprint ${TEXT} not null,
    subject_id ${TEXT},
    is_kept bigint not null,
    worker bigint,
    repeats bigint not null,
    created_at bigint not null,
    primary key (organization, project, operation, key))`,
  `create index create_keys_by_age on create_keys (created_at)`,
];
