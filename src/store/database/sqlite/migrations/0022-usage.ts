import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Counts of what was used, operator's keys, and budgets of keys. The first key becomes an operator's key. */
export const usage: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  `create table usage_counts (
    width integer not null,
    start_time integer not null,
    organization text not null,
    project text not null,
    key_id text not null,
    kind text not null,
    model text not null,
    service_tier text not null,
    currency text not null,
    requests integer not null,
    input_tokens integer not null,
    cached_tokens integer not null,
    cache_write_tokens integer not null,
    output_tokens integer not null,
    calls integer not null,
    nanos integer not null,
    primary key (width, start_time, kind, organization, project, key_id, model, service_tier, currency)) without rowid`,
  `create index usage_counts_by_key on usage_counts (key_id, width, start_time)`,
  `alter table api_keys add column is_operator integer not null default 0`,
  `alter table api_keys add column budget_period text`,
  `alter table api_keys add column budget_nanos integer`,
  `alter table api_keys add column budget_tokens integer`,
  `update api_keys set is_operator = 1 where id = 'key_first'`,
];
