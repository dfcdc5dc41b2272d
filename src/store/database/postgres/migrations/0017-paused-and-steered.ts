import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Pauses of background responses, and input that was added to them. */
export const pausedAndSteeredInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const TEXT = `text collate "C"`;

const STATEMENTS = [
  `alter table responses
    add column paused_at bigint,
    add column is_steered bigint not null default 0,
    add column successor_id ${TEXT}`,
  `create table steers (
    number bigint generated always as identity primary key,
    id ${TEXT} not null unique,
    response_id ${TEXT} not null,
    organization ${TEXT} not null,
    project ${TEXT} not null,
    key_id ${TEXT} not null,
    created_at bigint not null,
    input ${TEXT} not null,
    settings ${TEXT} not null,
    state ${TEXT} not null,
    successor_id ${TEXT},
    turn bigint,
    error ${TEXT},
    attempts bigint not null,
    due_at bigint not null)`,
  `create index steers_by_response on steers (response_id, number)`,
  `create index steers_waiting on steers (due_at) where state = 'accepted'`,
  `create function remove_steers() returns trigger language plpgsql as $$
    begin delete from steers where response_id = old.id; return null; end $$`,
  `create trigger responses_steers_removed after delete on responses for each row execute function remove_steers()`,
];
