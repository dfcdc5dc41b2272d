import type { CountedResponses, ResponseCountRequest, ResponseCounts } from "@antiphon/domain/inspection.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { dialectal } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { storedJson } from "../../database/stored-json.ts";
import { fits, isInReach, type PlacedSides } from "./response-filter.ts";

/** The totals of the responses of one bucket and model in a slice. */
interface CountedRow {
  readonly bucket: number;
  readonly model: string;
  readonly runs: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** JSON lists. */
  readonly durations: string;
  readonly firstTexts: string;
}

/** The responses that limit a slice. */
export interface SliceBounds {
  readonly conditions: readonly RawBuilder<SqlBool>[];
  readonly sides: PlacedSides;
}

/** Counts the responses between two places. If only time is filtered, it reads only the index of lists. */
export async function countSlice(
  db: Kysely<Database>,
  owner: Owner,
  { filter, from, bucketSeconds }: ResponseCountRequest,
  { conditions, sides }: SliceBounds,
): Promise<readonly CountedRow[]> {
  const bucket = sql<number>`cast((responses.created_at - ${sql.lit(from)}) / ${sql.lit(bucketSeconds)} as bigint)`;
  return await db
    .selectFrom("responses")
    .select([
      bucket.as("bucket"),
      "responses.model",
      sql<number>`count(*)`.as("runs"),
      sumOf(sql`case when responses.status = 'failed' then 1 else 0 end`).as("failed"),
      sumOf(sql`responses.input_tokens`).as("inputTokens"),
      sumOf(sql`responses.output_tokens`).as("outputTokens"),
      listOf("responses.duration_ms").as("durations"),
      listOf("responses.first_text_ms").as("firstTexts"),
    ])
    .where(isInReach(owner, filter, sides))
    .where(fits(filter))
    .where((expression) => expression.and([...conditions]))
    .groupBy([bucket, "responses.model"])
    .execute();
}

function sumOf(value: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`cast(coalesce(sum(${value}), 0) as bigint)`;
}

/** The values of a column as a JSON list. */
function listOf(column: string): RawBuilder<string> {
  const name = sql.ref(column);
  return dialectal(
    sql<string>`json_group_array(${name}) filter (where ${name} is not null)`,
    () => sql<string>`coalesce(json_agg(${name}) filter (where ${name} is not null), '[]')::text`,
  );
}

type Growing = {
  -readonly [Name in keyof CountedResponses]: CountedResponses[Name] extends number ? number : number[];
};

/** Adds up the counts of slices. */
export class Counts {
  readonly #buckets = new Map<number, Growing>();
  readonly #models = new Map<string, Growing>();

  add(rows: readonly CountedRow[]): void {
    for (const row of rows) {
      const durations = storedJson<readonly number[]>(row.durations);
      const firstTexts = storedJson<readonly number[]>(row.firstTexts);
      for (const sum of [sumIn(this.#buckets, row.bucket), sumIn(this.#models, row.model)]) {
        sum.runs += row.runs;
        sum.failed += row.failed;
        sum.inputTokens += row.inputTokens;
        sum.outputTokens += row.outputTokens;
        sum.durationsMs.push(...durations);
        sum.firstTextsMs.push(...firstTexts);
      }
    }
  }

  whole(isPartial: boolean): ResponseCounts {
    return { buckets: this.#buckets, models: this.#models, isPartial };
  }
}

function sumIn<Key>(sums: Map<Key, Growing>, key: Key): Growing {
  const earlier = sums.get(key);
  if (earlier !== undefined) return earlier;
  const sum: Growing = { runs: 0, failed: 0, inputTokens: 0, outputTokens: 0, durationsMs: [], firstTextsMs: [] };
  sums.set(key, sum);
  return sum;
}
