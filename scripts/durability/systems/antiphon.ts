import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, dropDatabase } from "../../../tests/services/databases.ts";
import { type PostgresServer, startPostgres } from "../../../tests/services/postgres-server.ts";
import { TcpProxy } from "../../../tests/services/tcp-proxy.ts";
import { cleanUp, removeFolder } from "../../bench/clean-up.ts";
import { startCommand } from "../../bench/processes.ts";
import { MODEL, SERVER_LABEL } from "../world/script.ts";
import type { World } from "../world/world.ts";
import { underHostName } from "./host-name.ts";
import { type Launched, Node } from "./node.ts";
import type { Api, System } from "./system.ts";

const MAIN = join(import.meta.dirname, "../../../src/main.ts");
const READY = /http:\/\/127\.0\.0\.1:(\d+)\/v1/;
const KEY = "sk-durability-0123456789abcdef";
const SERVER_FLAGS = process.env["SERVER_FLAGS"]?.split(" ").filter(Boolean) ?? [];
const SETTINGS = {
  NODE_ENV: "production",
  API_KEYS: `${KEY}=acme/web`,
  SEAL_KEYS: "5e".repeat(32),
  PORT: "0",
  STT_PORT: "0",
  SPEECH_ENGINE: "none",
  CODE_ENGINE: "off",
  FIND_LOCAL_DAEMON: "false",
  EGRESS_ALLOW: "127.0.0.1",
  LOG_LEVEL: "warn",
};

export interface AntiphonOptions {
  readonly world: World;
  /** The beginning of the names of log files. */
  readonly logs: string;
}

/** One server on SQLite. */
export async function startOnSqlite(options: AntiphonOptions): Promise<System> {
  const { nodes, removeFolders } = await startNodes({ ...options, names: ["alone"], env: {} });
  return systemOf(nodes, options, removeFolders);
}

/** Two servers on one PostgreSQL, between which and them `proxy` stands. */
export async function startOnPostgres(options: AntiphonOptions): Promise<System & { readonly proxy: TcpProxy }> {
  const postgres = await startPostgres();
  const database = await createDatabase(postgres.url());
  const proxy = new TcpProxy(database);
  await proxy.listen();
  const env = { DATABASE_URL: proxy.through(database) };
  const { nodes, removeFolders } = await startNodes({ ...options, names: ["left", "right"], env });
  const system = systemOf(nodes, options, async () => {
    removeFolders();
    await stopDatabase(postgres, database, proxy);
  });
  return { ...system, proxy };
}

async function stopDatabase(postgres: PostgresServer, database: string, proxy: TcpProxy): Promise<void> {
  proxy.close();
  await dropDatabase(database);
  await postgres.stop();
}

interface NodesOptions extends AntiphonOptions {
  readonly names: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function startNodes({ names, env, world, logs }: NodesOptions) {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-durability-"));
  const removeFolders = cleanUp(() => removeFolder(folder));
  const nodes = names.map((name) => {
    const dataDir = join(folder, name);
    mkdirSync(dataDir);
    const settings = { ...SETTINGS, ...env, DATA_DIR: dataDir, MODEL_BASE_URL: world.modelUrl(name) };
    return new Node(name, () => launch(name, settings, `${logs}-${name}.log`));
  });
  for (const node of nodes) await node.start();
  return { nodes, removeFolders };
}

async function launch(name: string, env: Readonly<Record<string, string>>, log: string): Promise<Launched> {
  const command = [...underHostName(name), process.execPath, ...SERVER_FLAGS, MAIN];
  const { child, match } = await startCommand({ command, env, ready: READY, log });
  return { child, url: `http://127.0.0.1:${match[1]}` };
}

function systemOf(nodes: readonly Node[], { world }: AntiphonOptions, remove: () => unknown): System {
  return {
    nodes,
    api: apiFor(world),
    judging: { isExact: true, reportsUnknownEffects: true, brokenRules: new Set() },
    stop: async () => {
      for (const node of nodes) await node.kill();
      await remove();
    },
  };
}

function apiFor({ mcpUrl }: World): Api {
  const tool = { type: "mcp", server_label: SERVER_LABEL, server_url: mcpUrl, require_approval: "never" };
  return {
    headers: { authorization: `Bearer ${KEY}` },
    createPath: "/v1/responses",
    createBody: (run) => ({
      model: MODEL,
      input: `Take all steps of ${run}, then tell about it.`,
      tools: [tool],
      background: true,
      stream: true,
      stream_options: { include_obfuscation: false },
    }),
    eventsPath: (id, after) => `/v1/responses/${id}?stream=true&include_obfuscation=false&starting_after=${after}`,
    replayPath: (id) => `/v1/responses/${id}/events?dialect=reference`,
    snapshotPath: (id) => `/v1/responses/${id}`,
  };
}
