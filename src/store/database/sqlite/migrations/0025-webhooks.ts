import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The addresses of webhooks, and the events on their way to them. */
export const webhooks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  `create table webhook_endpoints (
    number integer primary key autoincrement,
    id text not null unique,
    organization text not null,
    project text not null,
    created_at integer not null,
    updated_at integer not null,
    name text not null,
    url text not null,
    event_types text not null,
    secret text not null,
    secret_hint text not null,
    old_secret text,
    old_secret_until integer,
    failing_since integer,
    disabled_at integer,
    disabled_reason text)`,
  `create index webhook_endpoints_by_owner on webhook_endpoints (organization, project, number)`,
  `create table webhook_deliveries (
    number integer primary key autoincrement,
    endpoint_id text not null,
    event_id text not null,
    event_type text not null,
    subject_id text not null,
    created_at integer not null,
    state text not null,
    round integer not null,
    attempt_count integer not null,
    attempts text not null,
    due_at integer,
    worker integer)`,
  `create unique index webhook_deliveries_by_event on webhook_deliveries (endpoint_id, event_id)`,
  `create index webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, number)`,
  `create index webhook_deliveries_by_age on webhook_deliveries (created_at)`,
  `create index webhook_deliveries_due on webhook_deliveries (due_at) where state = 'waiting' and worker is null`,
  `create index webhook_deliveries_held on webhook_deliveries (worker) where worker is not null`,
];
