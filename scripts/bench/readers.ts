import { setTimeout as sleep } from "node:timers/promises";
import { createDatabase } from "../../tests/services/databases.ts";
import { startPostgres } from "../../tests/services/postgres-server.ts";
import { startRedis } from "../../tests/services/redis-server.ts";
import { cpuOfTree } from "./processes.ts";
import { type Server, startServer, startUpstream, THIS_TREE, type Upstream } from "./servers.ts";
import { quantile } from "./statistics.ts";
import { modelName } from "./upstream-shape.ts";

const TOKENS = 200;
const PACE_MS = 20;
/** Streams at a time. */
const LOADS = [1, 16];
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 2);
const BEHIND_MS_MAX = 20;
/** Events before the readers are attached, and a moment after, are not counted. */
const SETTLED_EVENTS = 40;
const KEY = "sk-readers-of-several-nodes";
const COMMON = { API_KEYS: `${KEY}=acme/web`, SEAL_KEYS: "0123456789abcdef".repeat(4) };

/**
 * Measures how much later readers on another node get events than readers on the node that makes the response: two
 * servers on one PostgreSQL, over NOTIFY and over Redis, and with no broker at all.
 */
export async function measureReaders(): Promise<void> {
  const upstream = await startUpstream();
  const postgres = await startPostgres({ fsync: true });
  const redis = await startRedis();
  try {
    console.log(`\nreaders on another node, ${PACE_MS} ms between tokens`);
    const brokers = [
      { name: "NOTIFY", env: {}, pid: null },
      { name: "Redis", env: { BUS_URL: redis.url }, pid: redis.pid() },
      { name: "no broker", env: { BUS_URL: "redis://127.0.0.1:1" }, pid: null },
    ];
    for (const broker of brokers) {
      const database = await createDatabase(postgres.url());
      const env = { ...COMMON, ...broker.env, DATABASE_URL: database };
      await withPair(upstream, env, async (pair) => {
        for (const streams of broker.name === "no broker" ? [1] : LOADS)
          await measureLoad({ ...pair, name: broker.name, streams, postgres: postgres.pid(), broker: broker.pid });
      });
    }
  } finally {
    upstream.stop();
    await Promise.all([postgres.stop(), redis.stop()]);
  }
}

interface Pair {
  readonly maker: Server;
  readonly other: Server;
}

async function withPair(
  upstream: Upstream,
  env: Readonly<Record<string, string>>,
  use: (pair: Pair) => Promise<void>,
): Promise<void> {
  const maker = await startServer({ root: THIS_TREE, upstream, env });
  const other = await startServer({ root: THIS_TREE, upstream, env });
  try {
    await use({ maker, other });
  } finally {
    other.stop();
    maker.stop();
  }
}

interface Load extends Pair {
  readonly name: string;
  readonly streams: number;
  /** Process numbers. */
  readonly postgres: number;
  readonly broker: number | null;
}

async function measureLoad({ maker, other, name, streams, postgres, broker }: Load): Promise<void> {
  const behind: number[] = [];
  const beside: number[] = [];
  let events = 0;
  await timeStreams({ maker, other }, streams); // Warms up.
  const cpu = (): number => cpuOfTree(postgres) + (broker === null ? 0 : cpuOfTree(broker));
  const before = { time: performance.now(), cpu: cpu() };
  for (let round = 0; round < ROUNDS; round++)
    for (const { here, again, there } of await timeStreams({ maker, other }, streams)) {
      events += here.size;
      if (there.size !== here.size) throw new Error(`a reader elsewhere got ${there.size} of ${here.size} events`);
      for (const [number, at] of there) {
        const first = here.get(number);
        if (first === undefined || number < SETTLED_EVENTS) continue;
        behind.push(at - first);
        beside.push((again.get(number) ?? Number.NaN) - first);
      }
    }
  const used = (((cpu() - before.cpu) * 1000) / events).toFixed(1);
  const verdict = name === "no broker" ? "at most about 1,500" : `target p99 at most ${BEHIND_MS_MAX}`;
  console.log(
    `  ${name}, ${streams} streams: ${spread(behind)} ms behind (${verdict}); a second reader on the same node: ` +
      `${spread(beside)}; ${behind.length} events; database and broker: ${used} ms of CPU for 1,000 events`,
  );
}

function spread(ms: readonly number[]): string {
  const [p50, p99, highest] = [0.5, 0.99, 1].map((share) => quantile(ms, share).toFixed(2));
  return `p50 ${p50}, p99 ${p99}, highest ${highest}`;
}

interface Timed {
  /** When each event arrived, by its number. */
  readonly here: ReadonlyMap<number, number>;
  /** The same for a second reader there, which shows how much of it is the machine's. */
  readonly again: ReadonlyMap<number, number>;
  readonly there: ReadonlyMap<number, number>;
}

async function timeStreams({ maker, other }: Pair, streams: number): Promise<readonly Timed[]> {
  const each = Array.from({ length: streams }, async (_, index): Promise<Timed> => {
    await sleep((index * PACE_MS) / streams);
    const id = await begin(maker);
    const [here, again, there] = await Promise.all([maker, maker, other].map((server) => timeEvents(server, id)));
    if (here === undefined || again === undefined || there === undefined) throw new Error("each server has a reader");
    return { here, again, there };
  });
  return await Promise.all(each);
}

async function begin({ port }: Server): Promise<string> {
  const model = modelName({ tokens: TOKENS, paceMs: PACE_MS });
  const reply = await fetch(`http://127.0.0.1:${port}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model, input: "Hi", background: true }),
  });
  const body: unknown = await reply.json();
  const id = typeof body === "object" && body !== null && "id" in body ? String(body.id) : "";
  if (id === "") throw new Error(`no response was begun: ${JSON.stringify(body)}`);
  return id;
}

async function timeEvents({ port }: Server, id: string): Promise<ReadonlyMap<number, number>> {
  const reply = await fetch(`http://127.0.0.1:${port}/v1/responses/${id}/events`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  const times = new Map<number, number>();
  let rest = "";
  for await (const piece of (reply.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())) {
    const at = performance.now();
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const number = /"sequence_number":(\d+)/.exec(line)?.[1];
      if (number !== undefined) times.set(Number(number), at);
    }
  }
  return times;
}
