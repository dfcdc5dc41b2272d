import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Columns for lists and statistics of responses, and exchanges with other servers. */
export const inspectionInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const TEXT = `text collate "C"`;

const STATEMENTS = [
  `alter table responses
    add column kind ${TEXT},
    add column key_id ${TEXT},
    add column metadata ${TEXT},
    add column input_preview ${TEXT},
    add column notes ${TEXT},
    add column reply_summary ${TEXT},
    add column event_times ${TEXT},
    add column input_tokens bigint,
    add column output_tokens bigint,
    add column duration_ms bigint,
    add column first_text_ms bigint`,
  `create table response_exchanges (
    sequence bigint generated always as identity primary key,
    id ${TEXT} not null unique,
    response_id ${TEXT} not null,
    organization ${TEXT} not null,
    project ${TEXT} not null,
    created_at bigint not null,
    bytes bigint not null,
    body ${TEXT} not null)`,
  `create index response_exchanges_by_response on response_exchanges (response_id)`,
  `create index response_exchanges_by_owner on response_exchanges (organization, project, sequence) include (bytes)`,
  `create index response_exchanges_by_age on response_exchanges (created_at)`,
  `create function remove_exchanges() returns trigger language plpgsql as $$
    begin delete from response_exchanges where response_id = old.id; return null; end $$`,
  `create trigger responses_exchanges_removed after delete on responses
    for each row execute function remove_exchanges()`,
];
