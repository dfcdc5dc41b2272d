import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Counts of what was used, operator's keys, and budgets of keys. The first key becomes an operator's key. */
export const usageInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const TEXT = `text collate "C"`;

const STATEMENTS = [
  `create table usage_counts (
    width bigint not null,
    start_time bigint not null,
    organization ${TEXT} not null,
    project ${TEXT} not null,
    key_id ${TEXT} not null,
    kind ${TEXT} not null,
    model ${TEXT} not null,
    service_tier ${TEXT} not null,
    currency ${TEXT} not null,
    requests bigint not null,
    input_tokens bigint not null,
    cached_tokens bigint not null,
    cache_write_tokens bigint not null,
    output_tokens bigint not null,
    calls bigint not null,
    nanos bigint not null,
    primary key (width, start_time, kind, organization, project, key_id, model, service_tier, currency))`,
  `create index usage_counts_by_key on usage_counts (key_id, width, start_time)`,
  `alter table api_keys
    add column is_operator bigint not null default 0,
    add column budget_period ${TEXT},
    add column budget_nanos bigint,
    add column budget_tokens bigint`,
  `update api_keys set is_operator = 1 where id = 'key_first'`,
];
