import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * Makes stored responses cheaper: items and events refer to a response's number, and ids are indexed with their time
 * first, so that new rows go to the ends of all indexes. Copies all responses, items and events.
 */
export const responseNumbers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await stopCounting(db);
    for (const statement of [
      ...rebuild("responses", RESPONSES, `select rowid, ${RESPONSE_COLUMNS} from old_responses order by rowid`),
      // A number that no response will have.
      ...rebuild("ancestors", ANCESTORS, `select -rowid, ${ANCESTOR_COLUMNS} from old_ancestors`),
      `create temporary table numbers (id text primary key not null, number integer not null) without rowid`,
      `insert into numbers select id, number from responses union all select id, number from ancestors`,
      ...rebuild(
        "items",
        ITEMS,
        `select sequence, old.id, number, organization, project, direction, position, body
          from old_items as old cross join numbers on numbers.id = old.response_id order by sequence`,
      ),
      ...rebuild(
        "event_chunks",
        EVENT_CHUNKS,
        `select number, first_number, last_number, body
          from old_event_chunks as old cross join numbers on numbers.id = old.response_id order by old.rowid`,
      ),
      `drop table numbers`,
      ...INDEXES,
    ])
      await sql.raw(statement).execute(db);
  },
};

/** The triggers are dropped with the old tables. The next start with a limit counts again. */
async function stopCounting(db: Kysely<unknown>): Promise<void> {
  for (const table of ["conversation_items", "files"]) {
    for (const change of ["added", "changed", "removed"])
      await sql.raw(`drop trigger if exists ${table}_usage_${change}`).execute(db);
  }
  await sql`delete from owner_usage`.execute(db);
}

function rebuild(table: string, columns: string, rows: string): readonly string[] {
  return [
    `alter table ${table} rename to old_${table}`,
    `create table ${table} (${columns})`,
    `insert into ${table} ${rows}`,
    `drop table old_${table}`,
  ];
}

/** The last 32 characters of an id, then the others. Queries use the indexes only with exactly this expression. */
function timeFirst(column: string): string {
  return `(substr(${column}, -32) || substr(${column}, 1, length(${column}) - 32))`;
}

const RESPONSE_COLUMNS = `id, organization, project, status, model, previous_response_id, created_at, completed_at, body,
  version, worker, task, streamed, stop_asked, restarts, conversation_id, conversation_seen`;

const RESPONSES = `
  number integer primary key autoincrement not null,
  id text not null,
  organization text not null,
  project text not null,
  status text not null,
  model text not null,
  previous_response_id text,
  created_at integer not null,
  completed_at integer,
  body text not null,
  version integer not null,
  worker integer,
  task text,
  streamed integer not null default 0,
  stop_asked integer not null default 0,
  restarts integer not null default 0,
  conversation_id text,
  conversation_seen integer`;

const ANCESTOR_COLUMNS = `id, organization, project, status, previous_response_id, conversation_id, conversation_seen,
  is_unused`;

const ANCESTORS = `
  number integer primary key not null,
  id text not null,
  organization text not null,
  project text not null,
  status text not null,
  previous_response_id text,
  conversation_id text,
  conversation_seen integer,
  is_unused integer not null`;

const ITEMS = `
  sequence integer primary key not null,
  id text not null,
  response_number integer not null,
  organization text not null,
  project text not null,
  direction text not null,
  position integer not null,
  body text not null,
  constraint items_of_response unique (response_number, direction, position)`;

const EVENT_CHUNKS = `
  response_number integer not null,
  first_number integer not null,
  last_number integer not null,
  body text not null,
  constraint event_chunks_of_response primary key (response_number, last_number)`;

const INDEXES = [
  `create unique index responses_by_id on responses (${timeFirst("id")})`,
  `create index responses_by_age on responses (created_at)`,
  `create index responses_by_previous on responses (${timeFirst("previous_response_id")})
    where previous_response_id is not null`,
  `create index live_responses on responses (worker) where status in ('queued', 'in_progress')`,
  `create index responses_of_conversation on responses (conversation_id) where conversation_id is not null`,
  `create unique index ancestors_by_id on ancestors (${timeFirst("id")})`,
  `create index ancestors_by_previous on ancestors (${timeFirst("previous_response_id")})
    where previous_response_id is not null`,
  `create index ancestors_of_conversation on ancestors (conversation_id) where conversation_id is not null`,
  `create index ancestors_unused on ancestors (number) where is_unused = 1`,
  `create index items_by_id on items (${timeFirst("id")})`,
  `drop index conversation_items_by_id`,
  `create index conversation_items_by_id on conversation_items (${timeFirst("id")})`,
];
