import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";

/** Where a server keeps its rows. `databaseUrl` is null for SQLite in the data folder. */
export interface FilledStore {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
}

interface Filling {
  /** Responses to add. */
  readonly count: number;
  /** The stretch of time that ends now and over which they are spread. */
  readonly spanSeconds: number;
}

type Row = Readonly<Record<string, unknown>>;
type Ask = (sql: string) => Promise<readonly Row[]>;

/** Of this many copies of a response that completed, each other one gets one. */
const COPIES_OF_COMPLETED = 12;

/**
 * Adds copies of the stored responses and their items, at other times and with other durations. The same call adds
 * the same copies.
 */
export async function fillStore(store: FilledStore, filling: Filling): Promise<void> {
  const { databaseUrl } = store;
  if (databaseUrl === null) {
    const database = new DatabaseSync(join(store.dataDir, "antiphon.db"), { timeout: 10_000 });
    await fill(async (sql) => database.prepare(sql).all(), SQLITE, filling);
    database.close();
    return;
  }
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await fill(async (sql) => (await client.query<Row>(sql)).rows, POSTGRES, filling);
  await client.query("analyze");
  await client.end();
}

/** What the two databases write differently. */
interface Dialect {
  readonly series: (count: number) => string;
  readonly digits: string;
}

const SQLITE: Dialect = {
  series: (count) => `select value as i from json_each('[${Array.from({ length: count }, (_, i) => i).join(",")}]')`,
  digits: "printf('%048d', i)",
};
const POSTGRES: Dialect = {
  series: (count) => `select generate_series(0, ${count - 1})::float8 as i`,
  digits: "lpad(i::text, 48, '0')",
};

async function fill(ask: Ask, dialect: Dialect, { count, spanSeconds }: Filling): Promise<void> {
  const known = await ask("select number, status from responses order by number");
  const originals = known.flatMap(({ number, status }) =>
    Array.from({ length: status === "completed" ? COPIES_OF_COMPLETED : 1 }, () => Number(number)),
  );
  const values = originals.map((number, place) => `(${place}, ${number})`).join(", ");
  const places = `with places (place, original) as (values ${values})`;
  const copies = `${places}, series as (${dialect.series(count)}),
    copies as (select i, original, ${random(1)} as u, ${random(2)} as v from series
      join places on place = ${placeOf(originals.length)})`;
  const startsAt = Math.floor(Date.now() / 1000) - spanSeconds;
  await ask(`${copies} insert into responses (id, created_at, completed_at, duration_ms, input_tokens, output_tokens,
      ${SAME.join(", ")})
    select 'resp_' || ${dialect.digits}, ${timeOf(startsAt, spanSeconds)}, ${timeOf(startsAt, spanSeconds)},
      cast(duration_ms * (0.6 + v) as bigint), cast(input_tokens * (0.5 + v) as bigint),
      cast(output_tokens * (0.5 + v) as bigint), ${SAME.join(", ")}
    from copies join responses on number = original order by u`);
  await ask(`${places}, numbered as (select number, cast(substr(id, 6) as bigint) as i from responses
      where id < 'resp_00000000001')
    insert into items (id, response_number, organization, project, direction, position, body)
    select items.id || '_' || ${dialect.digits}, numbered.number, items.organization, items.project, items.direction,
      items.position, items.body
    from numbered join places on place = ${placeOf(originals.length)}
    join items on items.response_number = original`);
}

/** Columns of a response that its copies share. */
const SAME = [
  "organization",
  "project",
  "status",
  "model",
  "body",
  "version",
  "streamed",
  "kind",
  "key_id",
  "metadata",
  "input_preview",
  "notes",
  "reply_summary",
  "first_text_ms",
];

/** Which response the copy `i` is made of. */
function placeOf(count: number): string {
  return `cast(floor(${random(3)} * ${count}) as bigint)`;
}

/** A number from 0 to 1 for each `i`, which looks like chance and is always the same. */
function random(salt: number): string {
  const wave = `sin(i * 12.9898 + ${salt * 78.233}) * 43758.5453`;
  return `(${wave} - floor(${wave}))`;
}

/** Two rushes within the stretch of time. */
function timeOf(startsAt: number, spanSeconds: number): string {
  return `cast(${startsAt} + ${spanSeconds} * (u + 0.06 * sin(12.566 * u)) as bigint)`;
}
