import { assert } from "@antiphon/base/assert.ts";
import { createDatabase } from "../../tests/services/databases.ts";
import { startPostgres } from "../../tests/services/postgres-server.ts";
import { startRedis } from "../../tests/services/redis-server.ts";
import { type Spenders, spendingOf } from "./cluster-spending.ts";
import { LoadGenerator } from "./load-generator.ts";
import type { Outcome } from "./load-job.ts";
import { type ReaderDelay, readerDelay } from "./reader-delay.ts";
import { type Server, startServer, startUpstream, THIS_TREE, type Upstream } from "./servers.ts";
import { type Asked, serverSide } from "./sides.ts";
import { median } from "./statistics.ts";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 3);
const API_KEY = "sk-bench-of-several-nodes-0123456789abcdef";
/** Long enough for a machine that does other things, too: a request that gives up would end the bench. */
const DATABASE_TIMEOUT = "60000";
const SEAL_KEY = "07".repeat(32);
const JSON_ANSWER = { shape: { tokens: 20, perWrite: 20 }, isStreamed: false, atOnce: 16 } as const;
const JSON_WARM_UP = Number(process.env["CLUSTER_WARM_UP"] ?? 3000);
const JSON_SAMPLE = 2400;
const STREAM = { shape: { tokens: 200, perWrite: 4 }, atOnce: 48 } as const;
const STREAM_SAMPLE = 288;
const FIRST_TEXT = { shape: { tokens: 20 }, count: 100, atOnce: 1 } as const;
const SAMPLE_SECONDS_MAX = 10;

/** What the nodes share, and how many there are. */
const FORMS = [
  { title: "1 SQLite", nodes: 1, isShared: false },
  { title: "1 PostgreSQL", nodes: 1, isShared: true },
  { title: "2 PostgreSQL", nodes: 2, isShared: true },
  { title: "3 PostgreSQL", nodes: 3, isShared: true },
] as const;

const FIGURES = [
  { title: "JSON requests per CPU second of the nodes", digits: 0 },
  { title: "  CPU ms of PostgreSQL a request", digits: 3 },
  { title: "  commits a request", digits: 2 },
  { title: "  kB of write-ahead log a request", digits: 1 },
  { title: "tokens per CPU second of the nodes", digits: 0 },
  { title: "  CPU ms of PostgreSQL per 1,000 events", digits: 2 },
  { title: "  CPU ms of the broker per 1,000 events", digits: 2 },
  { title: "first text, 1 at a time, p50 ms", digits: 2 },
  { title: "paced token to a reader on its node, p50 ms", digits: 2 },
  { title: "  p99", digits: 1 },
  { title: "paced token to a reader on another node, p50 ms", digits: 2 },
  { title: "  p99", digits: 1 },
  { title: "  CPU ms of the nodes per 1,000 paced tokens", digits: 1 },
  { title: "  CPU ms of PostgreSQL per 1,000 paced tokens", digits: 1 },
  { title: "  CPU ms of the broker per 1,000 paced tokens", digits: 1 },
  { title: "  commits per 1,000 paced tokens", digits: 0 },
] as const;

type Form = (typeof FORMS)[number];

/** Nodes that share a database, or one node that has its own. */
interface Cluster extends Spenders {
  readonly title: string;
  readonly rounds: (readonly number[])[];
}

/** Measures what a node costs on each database, alone and together with others. The clusters take turns. */
export async function measureCluster(): Promise<void> {
  const upstream = await startUpstream();
  const loads = Array.from({ length: Math.max(...FORMS.map(({ nodes }) => nodes)) }, () => new LoadGenerator());
  const clusters: Cluster[] = [];
  try {
    for (const form of FORMS) clusters.push(await startCluster(form, upstream));
    const bench = new ClusterBench(loads);
    for (const cluster of clusters) await bench.warmUp(cluster);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const cluster of round % 2 === 0 ? clusters : clusters.toReversed())
        cluster.rounds.push(await bench.measure(cluster));
    print(clusters);
  } finally {
    for (const load of loads) load.stop();
    for (const cluster of clusters) await stop(cluster);
    upstream.stop();
  }
}

async function startCluster({ title, nodes: count, isShared }: Form, upstream: Upstream): Promise<Cluster> {
  const server = isShared ? await startPostgres({ fsync: true }) : null;
  const database = server === null ? null : { server, url: await createDatabase(server.url()) };
  const broker = count > 1 ? await startRedis() : null;
  const env = {
    API_KEYS: API_KEY,
    DATABASE_TIMEOUT_MS: DATABASE_TIMEOUT,
    ...(database === null ? {} : { DATABASE_URL: database.url, SEAL_KEYS: SEAL_KEY }),
    ...(broker === null ? {} : { BUS_URL: broker.url }),
  };
  const nodes: Server[] = [];
  // One after the other: the first one makes the tables.
  for (let node = 0; node < count; node += 1) nodes.push(await startServer({ root: THIS_TREE, upstream, env }));
  return { title, nodes, database, broker, rounds: [] };
}

async function stop({ nodes, database, broker }: Cluster): Promise<void> {
  for (const node of nodes) node.stop();
  await Promise.all([database?.server.stop(), broker?.stop()]);
}

class ClusterBench {
  readonly #loads: readonly LoadGenerator[];

  constructor(loads: readonly LoadGenerator[]) {
    this.#loads = loads;
  }

  async warmUp(cluster: Cluster): Promise<void> {
    const nodes = cluster.nodes.length;
    await this.#perform(cluster, { ...JSON_ANSWER, count: JSON_WARM_UP * nodes });
    await this.#perform(cluster, { ...STREAM, count: STREAM_SAMPLE * nodes });
  }

  /** Resolves to the values of `FIGURES`. */
  async measure(cluster: Cluster): Promise<readonly number[]> {
    const json = await spendingOf(cluster, () => this.#perform(cluster, { ...JSON_ANSWER, count: JSON_SAMPLE }));
    const streams = await spendingOf(cluster, () => this.#perform(cluster, { ...STREAM, count: STREAM_SAMPLE }));
    const first = await this.#firstText(cluster);
    const paced = await spendingOf(cluster, () => readersOf(cluster));
    const { own, other, events } = paced.result;
    const onPostgres = (value: number): number => (cluster.database === null ? Number.NaN : value);
    const onBroker = (value: number): number => (cluster.broker === null ? Number.NaN : value);
    return [
      (json.result.whole * 1000) / json.spent.nodes,
      onPostgres(json.spent.database / json.result.whole),
      onPostgres(json.spent.commits / json.result.whole),
      onPostgres(json.spent.logBytes / 1000 / json.result.whole),
      (streams.result.texts * 1000) / streams.spent.nodes,
      onPostgres((streams.spent.database * 1000) / streams.result.texts),
      onBroker((streams.spent.broker * 1000) / streams.result.texts),
      first,
      own.p50,
      own.p99,
      other.p50,
      other.p99,
      (paced.spent.nodes * 1000) / events,
      onPostgres((paced.spent.database * 1000) / events),
      onBroker((paced.spent.broker * 1000) / events),
      onPostgres((paced.spent.commits * 1000) / events),
    ];
  }

  /** Spreads the load over all nodes of the cluster. */
  async #perform({ nodes }: Cluster, asked: Omit<Asked, "secondsMax">): Promise<Pick<Outcome, "whole" | "texts">> {
    const share = { count: Math.ceil(asked.count / nodes.length), atOnce: Math.ceil(asked.atOnce / nodes.length) };
    const outcomes = await Promise.all(
      nodes.map((node, index) =>
        this.#load(index).performWell(
          serverSide(node, { stores: true }).job({ ...asked, ...share, secondsMax: SAMPLE_SECONDS_MAX }),
        ),
      ),
    );
    return {
      whole: outcomes.reduce((sum, { whole }) => sum + whole, 0),
      texts: outcomes.reduce((sum, { texts }) => sum + texts, 0),
    };
  }

  async #firstText({ nodes: [node] }: Cluster): Promise<number> {
    if (node === undefined) return Number.NaN;
    const job = serverSide(node, { stores: true }).job(FIRST_TEXT);
    return (await this.#load(0).performWell(job)).firstTextMs.p50;
  }

  #load(index: number): LoadGenerator {
    const load = this.#loads[index];
    if (load === undefined) throw new Error("each node has a load generator");
    return load;
  }
}

/** The first node makes the responses. */
function readersOf({ nodes: [maker, other] }: Cluster): Promise<ReaderDelay> {
  assert(maker !== undefined, "a cluster has at least one node");
  return readerDelay(maker, other ?? null);
}

const TITLE_WIDTH = 56;
const COLUMN_WIDTH = 14;

function print(clusters: readonly Cluster[]): void {
  console.log(`\nnodes on one machine with database, broker, upstream and load; medians of ${ROUNDS} rounds in turns`);
  console.log("".padEnd(TITLE_WIDTH) + clusters.map(({ title }) => title.padStart(COLUMN_WIDTH)).join(""));
  FIGURES.forEach(({ title, digits }, index) => {
    const values = clusters.map(({ rounds }) => median(rounds.map((round) => round[index] ?? Number.NaN)));
    const shown = values.map((value) => (Number.isNaN(value) ? "–" : value.toFixed(digits)).padStart(COLUMN_WIDTH));
    console.log(title.padEnd(TITLE_WIDTH) + shown.join(""));
  });
}
