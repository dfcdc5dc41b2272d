import OpenAI from "openai";
import { Client } from "pg";
import { onTestFinished } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { isAlive } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { createDatabase } from "../services/databases.ts";
import { type PostgresServer, startPostgres } from "../services/postgres-server.ts";
import { type RedisServer, startRedis } from "../services/redis-server.ts";
import { type NetworkNode, type Segment, startNetwork } from "./network.ts";
import { startNginx } from "./nginx.ts";
import { serveWorld, type World } from "./world.ts";

/** Nodes on machines of their own, one database, one broker, and a load balancer in front. Ends with the test. */
export interface Cluster {
  readonly nodes: readonly ClusterNode[];
  readonly world: World;
  readonly database: PostgresServer;
  readonly broker: RedisServer;
  /** The official client. Each call goes through the load balancer, to any node. */
  readonly client: OpenAI;
  /** Asks the database, whose server is local. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

export interface ClusterOptions {
  readonly nodes: number;
  /** Settings of all nodes beside those of the cluster itself. */
  readonly env?: Readonly<Record<string, string>>;
  /** Settings of PostgreSQL, such as `{ synchronous_commit: "off" }`. */
  readonly databaseSettings?: Readonly<Record<string, string>>;
}

/** Short, so that a trial has time for many faults. */
export const LEASE_MS = 3000;
export const DATABASE_TIMEOUT_MS = 2000;
const PORT = 8080;
const CALL_MS_MAX = 20_000;

export async function startCluster({ nodes, env = {}, databaseSettings = {} }: ClusterOptions): Promise<Cluster> {
  const network = await startNetwork(nodes);
  onTestFinished(() => network.close());
  const database = await startPostgres({ addresses: [network.address("database")], settings: databaseSettings });
  onTestFinished(() => database.stop());
  const broker = await startRedis({ addresses: [network.address("broker")] });
  onTestFinished(() => broker.stop());
  const world = await serveWorld(network.address("web"));
  const local = await createDatabase(database.url());
  const folder = temporaryFolder();
  const settings = {
    NODE_ENV: "production",
    DATABASE_URL: at(local, network.address("database")),
    BUS_URL: at(broker.url, network.address("broker")),
    DATA_DIR: folder,
    PORT: String(PORT),
    MODEL_BASE_URL: world.modelUrl,
    EGRESS_ALLOW: network.address("web"),
    LEASE_MS: String(LEASE_MS),
    DATABASE_TIMEOUT_MS: String(DATABASE_TIMEOUT_MS),
    SEAL_KEYS: SEAL_KEY,
    LOG_LEVEL: "warn",
    ...env,
  };
  const started = network.nodes.map(
    (machine, index) => new ClusterNode(`node-${index + 1}`, machine, { ...settings, HOST: machine.address("web") }),
  );
  await Promise.all(started.map((node) => node.start()));
  const origin = await startNginx(started.map((node) => node.host));
  return {
    nodes: started,
    world,
    database,
    broker,
    client: clientOf(origin, started[0]?.server.apiKey ?? ""),
    query: (sql) => query(local, sql),
  };
}

const SEAL_KEY = "07".repeat(32);

/** One machine and the server on it. */
export class ClusterNode {
  readonly name: string;
  readonly host: string;
  readonly #machine: NetworkNode;
  readonly #env: Readonly<Record<string, string>>;
  #server: ChildServer | null = null;
  #client: OpenAI | null = null;

  constructor(name: string, machine: NetworkNode, env: Readonly<Record<string, string>>) {
    this.name = name;
    this.host = `${machine.address("web")}:${env["PORT"]}`;
    this.#machine = machine;
    this.#env = { ...env, NODE_NAME: name };
  }

  get server(): ChildServer {
    if (this.#server === null) throw new Error(`${this.name} was not started`);
    return this.#server;
  }

  /** The official client. Its calls reach this node and no other. */
  get client(): OpenAI {
    this.#client ??= clientOf(`http://${this.host}`, this.server.apiKey);
    return this.#client;
  }

  /** Whether the server is there. */
  isAlive(): boolean {
    return isAlive(this.server.pid);
  }

  async start(): Promise<void> {
    this.#server = await startChildServer({ env: this.#env, under: this.#machine.inside });
  }

  kill(): Promise<void> {
    return this.server.kill();
  }

  pause(): void {
    this.server.pause();
  }

  resume(): void {
    this.server.resume();
  }

  cut(segment: Segment): void {
    this.#machine.cut(segment);
  }

  mend(segment: Segment): void {
    this.#machine.mend(segment);
  }
}

function clientOf(origin: string, apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0, timeout: CALL_MS_MAX });
}

/** The same address on another host. */
function at(url: string, host: string): string {
  const moved = new URL(url);
  moved.hostname = host;
  return moved.href;
}

async function query(url: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
