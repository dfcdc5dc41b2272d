import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Pauses of background responses, and input that was added to them. */
export const pausedAndSteered: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  `alter table responses add column paused_at integer`,
  `alter table responses add column is_steered integer not null default 0`,
  `alter table responses add column successor_id text`,
  `create table steers (
    number integer primary key autoincrement,
    id text not null unique,
    response_id text not null,
    organization text not null,
    project text not null,
    key_id text not null,
    created_at integer not null,
    input text not null,
    settings text not null,
    state text not null,
    successor_id text,
    turn integer,
    error text,
    attempts integer not null,
    due_at integer not null)`,
  `create index steers_by_response on steers (response_id, number)`,
  `create index steers_waiting on steers (due_at) where state = 'accepted'`,
  `create trigger responses_steers_removed after delete on responses
    begin delete from steers where response_id = old.id; end`,
];
