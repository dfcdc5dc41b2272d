import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The addresses of webhooks, and the events on their way to them. */
export const webhooksInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const TEXT = `text collate "C"`;
const NUMBER = "bigint generated always as identity";

const STATEMENTS = [
  `create table webhook_endpoints (
    number ${NUMBER} primary key,
    id ${TEXT} not null unique,
    organization ${TEXT} not null,
    project ${TEXT} not null,
    created_at bigint not null,
    updated_at bigint not null,
    name ${TEXT} not null,
    url ${TEXT} not null,
    event_types ${TEXT} not null,
    secret ${TEXT} not null,
    secret_hint ${TEXT} not null,
    old_secret ${TEXT},
    old_secret_until bigint,
    failing_since bigint,
    disabled_at bigint,
    disabled_reason ${TEXT})`,
  `create index webhook_endpoints_by_owner on webhook_endpoints (organization, project, number)`,
  `create table webhook_deliveries (
    number ${NUMBER} primary key,
    endpoint_id ${TEXT} not null,
    event_id ${TEXT} not null,
    event_type ${TEXT} not null,
    subject_id ${TEXT} not null,
    created_at bigint not null,
    state ${TEXT} not null,
    round bigint not null,
    attempt_count bigint not null,
    attempts ${TEXT} not null,
    due_at bigint,
    worker bigint)`,
  `create unique index webhook_deliveries_by_event on webhook_deliveries (endpoint_id, event_id)`,
  `create index webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, number)`,
  `create index webhook_deliveries_by_age on webhook_deliveries (created_at)`,
  `create index webhook_deliveries_due on webhook_deliveries (due_at) where state = 'waiting' and worker is null`,
  `create index webhook_deliveries_held on webhook_deliveries (worker) where worker is not null`,
];
