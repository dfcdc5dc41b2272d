import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Requests of files, which are answered with low priority. */
export const batchesInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const TEXT = `text collate "C"`;
const NUMBER = "bigint generated always as identity";

const STATEMENTS = [
  `create table batches (
    number ${NUMBER} primary key,
    id ${TEXT} not null unique,
    organization ${TEXT} not null,
    project ${TEXT} not null,
    key_id ${TEXT} not null,
    created_at bigint not null,
    expires_at bigint not null,
    endpoint ${TEXT} not null,
    input_file_id ${TEXT} not null,
    completion_window ${TEXT} not null,
    metadata ${TEXT},
    output_expires_after bigint,
    status ${TEXT} not null,
    in_progress_at bigint,
    finalizing_at bigint,
    cancelling_at bigint,
    ended_at bigint,
    model ${TEXT},
    errors ${TEXT},
    total bigint not null,
    completed bigint not null,
    failed bigint not null,
    input_tokens bigint not null,
    cached_tokens bigint not null,
    output_tokens bigint not null,
    reasoning_tokens bigint not null,
    output_file_id ${TEXT},
    error_file_id ${TEXT},
    is_open bigint not null,
    due_at bigint not null,
    worker bigint)`,
  `create index batches_by_owner on batches (organization, project, number)`,
  `create index batches_open on batches (number) where is_open = 1`,
  `create index batches_held on batches (worker) where worker is not null`,
  `create table batch_lines (
    batch_number bigint not null,
    line bigint not null,
    custom_id ${TEXT} not null,
    body ${TEXT} not null,
    state ${TEXT} not null,
    result ${TEXT},
    attempts bigint not null,
    due_at bigint not null,
    worker bigint,
    primary key (batch_number, line))`,
  `create index batch_lines_waiting on batch_lines (batch_number, line) where state = 'waiting'`,
  `create index batch_lines_held on batch_lines (worker) where worker is not null`,
  `create table batch_runs (
    batch_number bigint not null,
    line bigint not null,
    choice bigint not null,
    response_id ${TEXT} not null,
    is_kept bigint not null,
    primary key (batch_number, line, choice))`,
  `create unique index batch_runs_by_response on batch_runs (response_id)`,
];
