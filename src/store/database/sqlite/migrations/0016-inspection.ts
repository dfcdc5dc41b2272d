import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Columns for lists and statistics of responses, and exchanges with other servers. */
export const inspection: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const [name, type] of COLUMNS) await db.schema.alterTable("responses").addColumn(name, type).execute();
    // Lists read it in order, and statistics read nothing else.
    await sql
      .raw(
        `create index responses_of_owner on responses (organization, project, created_at, number, status, model,
          input_tokens, output_tokens, duration_ms, first_text_ms)`,
      )
      .execute(db);
    for (const statement of EXCHANGES) await sql.raw(statement).execute(db);
  },
};

const COLUMNS = [
  ["kind", "text"],
  ["key_id", "text"],
  ["metadata", "text"],
  ["input_preview", "text"],
  ["notes", "text"],
  ["reply_summary", "text"],
  ["event_times", "text"],
  ["input_tokens", "integer"],
  ["output_tokens", "integer"],
  ["duration_ms", "integer"],
  ["first_text_ms", "integer"],
] as const;

const EXCHANGES = [
  `create table response_exchanges (
    sequence integer primary key autoincrement not null,
    id text not null unique,
    response_id text not null,
    organization text not null,
    project text not null,
    created_at integer not null,
    bytes integer not null,
    body text not null)`,
  `create index response_exchanges_by_response on response_exchanges (response_id)`,
  `create index response_exchanges_by_owner on response_exchanges (organization, project, sequence, bytes)`,
  `create index response_exchanges_by_age on response_exchanges (created_at)`,
  `create trigger responses_exchanges_removed after delete on responses
    begin delete from response_exchanges where response_id = old.id; end`,
];
