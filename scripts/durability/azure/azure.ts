import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../tests/services/free-port.ts";
import { cleanUp, removeFolder } from "../../bench/clean-up.ts";
import { startCommand } from "../../bench/processes.ts";
import { type Launched, Node } from "../systems/node.ts";
import type { Api, System } from "../systems/system.ts";
import { MODEL, SERVER_LABEL, TOOL } from "../world/script.ts";
import type { World } from "../world/world.ts";

const HOST = join(import.meta.dirname, "host.py");
const NAME = "azure";

export interface AzureOptions {
  readonly world: World;
  /** The beginning of the names of log files. */
  readonly logs: string;
  /** The program that has the library. */
  readonly python: string;
}

/** One server of Azure's library on its own storage of files. */
export async function startAzure({ world, logs, python }: AzureOptions): Promise<System> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-durability-azure-"));
  const remove = cleanUp(() => removeFolder(folder));
  const env = {
    MODEL_URL: world.modelUrl(NAME),
    MCP_URL: world.mcpUrl,
    SERVER_LABEL,
    TOOL,
    AGENTSERVER_STATE_ROOT: folder,
  };
  const node = new Node(NAME, () => launch(python, env, `${logs}.log`));
  await node.start();
  return {
    nodes: [node],
    api: API,
    judging: { isExact: false, reportsUnknownEffects: false, brokenRules: new Set() },
    stop: async () => {
      await node.kill();
      remove();
    },
  };
}

async function launch(python: string, env: Readonly<Record<string, string>>, log: string): Promise<Launched> {
  const port = await freePort();
  const { child } = await startCommand({
    command: [python, HOST],
    env: { ...env, PORT: String(port) },
    ready: /Running on http/,
    log,
  });
  return { child, url: `http://127.0.0.1:${port}` };
}

const API: Api = {
  headers: {},
  createPath: "/responses",
  createBody: (run) => ({
    model: MODEL,
    input: `Take all steps of ${run}, then tell about it.`,
    background: true,
    stream: true,
    store: true,
  }),
  eventsPath: (id, after) => `/responses/${id}?stream=true&starting_after=${after}`,
  replayPath: (id) => `/responses/${id}?stream=true`,
  snapshotPath: (id) => `/responses/${id}`,
};
