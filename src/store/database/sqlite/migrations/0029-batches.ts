import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Requests of files, which are answered with low priority. */
export const batches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  `create table batches (
    number integer primary key autoincrement,
    id text not null unique,
    organization text not null,
    project text not null,
    key_id text not null,
    created_at integer not null,
    expires_at integer not null,
    endpoint text not null,
    input_file_id text not null,
    completion_window text not null,
    metadata text,
    output_expires_after integer,
    status text not null,
    in_progress_at integer,
    finalizing_at integer,
    cancelling_at integer,
    ended_at integer,
    model text,
    errors text,
    total integer not null,
    completed integer not null,
    failed integer not null,
    input_tokens integer not null,
    cached_tokens integer not null,
    output_tokens integer not null,
    reasoning_tokens integer not null,
    output_file_id text,
    error_file_id text,
    is_open integer not null,
    due_at integer not null,
    worker integer)`,
  `create index batches_by_owner on batches (organization, project, number)`,
  `create index batches_open on batches (number) where is_open = 1`,
  `create index batches_held on batches (worker) where worker is not null`,
  `create table batch_lines (
    batch_number integer not null,
    line integer not null,
    custom_id text not null,
    body text not null,
    state text not null,
    result text,
    attempts integer not null,
    due_at integer not null,
    worker integer,
    primary key (batch_number, line))`,
  `create index batch_lines_waiting on batch_lines (batch_number, line) where state = 'waiting'`,
  `create index batch_lines_held on batch_lines (worker) where worker is not null`,
  `create table batch_runs (
    batch_number integer not null,
    line integer not null,
    choice integer not null,
    response_id text not null,
    is_kept integer not null,
    primary key (batch_number, line, choice))`,
  `create unique index batch_runs_by_response on batch_runs (response_id)`,
];
