import type { Owner } from "@antiphon/domain/owner.ts";
import {
  type KeySpending,
  NO_AMOUNTS,
  sumOfAmounts,
  type UsageAmounts,
  type UsageCount,
  type UsageDimension,
  type UsageQuery,
  type UsageStore,
  type UsageSum,
} from "@antiphon/domain/usage.ts";
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Database, UsageCountsTable } from "../../database/schema.ts";

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;
/** The maximum of rows that one sweep deletes. */
const DELETED_MAX = 1_000;

/** Counts of usage in the database. Days are counted beside minutes, so that long times are read fast. */
export class StoredUsage implements UsageStore {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async add(counts: readonly UsageCount[]): Promise<void> {
    const rows = mergedRows(counts);
    if (rows.length === 0) return;
    await this.#db
      .insertInto("usage_counts")
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns([...KEY]).doUpdateSet((expression) => {
          const sum = (column: (typeof AMOUNTS)[number]) =>
            expression(expression.ref(`usage_counts.${column}`), "+", expression.ref(`excluded.${column}`));
          return {
            requests: sum("requests"),
            input_tokens: sum("input_tokens"),
            cached_tokens: sum("cached_tokens"),
            cache_write_tokens: sum("cache_write_tokens"),
            output_tokens: sum("output_tokens"),
            calls: sum("calls"),
            nanos: sum("nanos"),
          };
        }),
      )
      .execute();
  }

  async sum(query: UsageQuery): Promise<readonly UsageSum[]> {
    const { kind, bucketSeconds, from, before, owners, keyIds, models } = query;
    const width = bucketSeconds === DAY_SECONDS ? DAY_SECONDS : MINUTE_SECONDS;
    const bucket = sql<number>`(start_time / ${sql.lit(bucketSeconds)}) * ${sql.lit(bucketSeconds)}`;
    const columns = query.groupBy.flatMap((dimension) => COLUMNS[dimension].map((column) => sql.ref(column)));
    const group = sql.join([bucket, ...columns]);
    const conditions = [
      sql<SqlBool>`width = ${width} and start_time >= ${from} and start_time < ${before}`,
      ...(kind === null ? [] : [isAmong("kind", [kind])]),
      ...(owners === null ? [] : [isAmongOwners(owners)]),
      ...(keyIds === null ? [] : [isAmong("key_id", keyIds)]),
      ...(models === null ? [] : [isAmong("model", models)]),
    ];
    const { rows } = await sql<SumRow>`
      select ${bucket} as start_time, ${sql.join([...columns, ...SUMS])}
      from usage_counts where ${sql.join(conditions, sql` and `)}
      group by ${group} order by ${group}`.execute(this.#db);
    return rows.map(usageSum);
  }

  async spentSince(keyId: string, day: number): Promise<KeySpending> {
    const { rows } = await sql<KeySpending>`
      select cast(coalesce(sum(nanos), 0) as bigint) as nanos,
        cast(coalesce(sum(input_tokens + output_tokens), 0) as bigint) as tokens
      from usage_counts where key_id = ${keyId} and width = ${DAY_SECONDS} and start_time >= ${day}`.execute(this.#db);
    return rows[0] ?? { nanos: 0, tokens: 0 };
  }

  async deleteMinutes(before: number): Promise<number> {
    const { rows } = await sql<{ readonly last: number | null }>`
      select max(start_time) as last from (select start_time from usage_counts
        where width = ${MINUTE_SECONDS} and start_time < ${before} order by start_time limit ${sql.lit(DELETED_MAX)}
      ) as oldest`.execute(this.#db);
    const last = rows[0]?.last ?? null;
    if (last === null) return 0;
    const { numDeletedRows } = await this.#db
      .deleteFrom("usage_counts")
      .where("width", "=", MINUTE_SECONDS)
      .where("start_time", "<=", last)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }
}

const KEY = [
  "width",
  "start_time",
  "kind",
  "organization",
  "project",
  "key_id",
  "model",
  "service_tier",
  "currency",
] as const satisfies readonly (keyof UsageCountsTable)[];

const AMOUNTS = [
  "requests",
  "input_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "output_tokens",
  "calls",
  "nanos",
] as const satisfies readonly (keyof UsageCountsTable)[];

/** A sum of integers is no integer in PostgreSQL without a cast. */
const SUMS = AMOUNTS.map((column) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`);

const COLUMNS: Readonly<Record<UsageDimension, readonly (keyof UsageCountsTable)[]>> = {
  project: ["organization", "project"],
  key: ["key_id"],
  model: ["model"],
  serviceTier: ["service_tier"],
  currency: ["currency"],
};

/** One row for each key. They are sorted, so that servers that write at the same time do not wait in a circle. */
function mergedRows(counts: readonly UsageCount[]): readonly UsageCountsTable[] {
  const sums = new Map<string, { readonly count: UsageCount; readonly width: number }>();
  for (const count of counts) {
    for (const width of [MINUTE_SECONDS, DAY_SECONDS]) {
      const row = rowOfCount(count, width);
      const name = JSON.stringify(KEY.map((column) => row[column]));
      const amounts = sumOfAmounts(count.amounts, sums.get(name)?.count.amounts ?? NO_AMOUNTS);
      sums.set(name, { count: { ...count, amounts }, width });
    }
  }
  const sorted = [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([, { count, width }]) => rowOfCount(count, width));
}

function rowOfCount({ at, owner, keyId, currency, amounts, ...subject }: UsageCount, width: number): UsageCountsTable {
  return {
    width,
    start_time: at - (at % width),
    organization: owner.organization,
    project: owner.project,
    key_id: keyId ?? "",
    kind: subject.kind,
    model: subject.model,
    service_tier: subject.serviceTier,
    currency: currency ?? "",
    requests: amounts.requests,
    input_tokens: amounts.inputTokens,
    cached_tokens: amounts.cachedTokens,
    cache_write_tokens: amounts.cacheWriteTokens,
    output_tokens: amounts.outputTokens,
    calls: amounts.calls,
    nanos: amounts.nanos,
  };
}

type AmountColumns = Pick<UsageCountsTable, (typeof AMOUNTS)[number]>;

type SumRow = AmountColumns &
  Pick<UsageCountsTable, "start_time"> &
  Partial<Pick<UsageCountsTable, "organization" | "project" | "key_id" | "model" | "service_tier" | "currency">>;

function usageSum({ start_time: start, organization, project, ...row }: SumRow): UsageSum {
  return {
    start,
    owner: organization === undefined || project === undefined ? null : { organization, project },
    keyId: nullIfEmpty(row.key_id),
    model: nullIfEmpty(row.model),
    serviceTier: nullIfEmpty(row.service_tier),
    currency: nullIfEmpty(row.currency),
    amounts: amountsOf(row),
  };
}

function amountsOf(row: AmountColumns): UsageAmounts {
  return {
    requests: row.requests,
    inputTokens: row.input_tokens,
    cachedTokens: row.cached_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    outputTokens: row.output_tokens,
    calls: row.calls,
    nanos: row.nanos,
  };
}

function nullIfEmpty(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}

function isAmong(column: keyof UsageCountsTable, values: readonly string[]): RawBuilder<SqlBool> {
  return values.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`${sql.ref(column)} in (${sql.join([...values])})`;
}

function isAmongOwners(owners: readonly Owner[]): RawBuilder<SqlBool> {
  if (owners.length === 0) return sql<SqlBool>`1 = 0`;
  const each = owners.map(
    ({ organization, project }) => sql`(organization = ${organization} and project = ${project})`,
  );
  return sql<SqlBool>`(${sql.join(each, sql` or `)})`;
}
