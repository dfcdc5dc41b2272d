import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { removeFolder } from "./clean-up.ts";
import { LoadGenerator } from "./load-generator.ts";
import { McpClients } from "./mcp-clients.ts";
import { startProgram } from "./processes.ts";
import { type Server, startServer, THIS_TREE } from "./servers.ts";
import { median } from "./statistics.ts";
import { CALL_MS, SCENARIO } from "./tools-shape.ts";

const SAMPLES = 40;
const AT_ONCE = 64;
/** Rounds of `AT_ONCE` before anything is measured: both sides run compiled code by then. */
const WARM_UP = 30;
const ROUNDS = 15;
const SECONDS_MAX = 60;
const ADDED_MS_MAX = 5;
const APART_MAX = 1.3;

/**
 * Measures what the tool loop adds to the tools' own time, with an MCP server whose tool takes 50 ms and the built-in
 * engine: one call more in a response, and 64 responses at once with three calls each. The ideal for these is the same
 * work without a server of ours: a bare Node process that lists and calls as often with the same client library, over
 * one open connection. Its rounds and ours alternate, and both are warm. The MCP server has the same machine in both,
 * so its processor time is in both; the callers of our server only look for marks in the replies. The time of one
 * response alone is printed too: it is the ideal on a machine with a core for each response.
 */
export async function measureTools(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
  const scenario = join(folder, "scenario.yaml");
  writeFileSync(scenario, stringify(SCENARIO));
  const mcp = await startProgram(join(import.meta.dirname, "slow-mcp-server.ts"), {}, /listening (\d+)/);
  const mcpUrl = `http://127.0.0.1:${mcp.match[1]}/mcp`;
  const env = { MODEL_BASE_URL: "", FIND_LOCAL_DAEMON: "false", SCENARIO_FILE: scenario, EGRESS_ALLOW: "127.0.0.1" };
  const server = await startServer({ root: THIS_TREE, upstream: { port: 1 }, env });
  const load = new LoadGenerator();
  const clients = new McpClients(mcpUrl, AT_ONCE);
  const ask: Ask = (asked) => timeOf(load, { server, mcpUrl, ...asked });
  const ideal = (): Promise<number> => clients.round();
  try {
    for (let round = 0; round < WARM_UP; round += 1) {
      await ideal();
      await ask({ ...FAN, count: AT_ONCE });
    }
    await printAdded(ask);
    await printTogether(ask, ideal);
  } finally {
    load.stop();
    clients.stop();
    server.stop();
    mcp.child.kill("SIGKILL");
    removeFolder(folder);
  }
}

interface Asked {
  readonly input: string;
  /** Calls of the tool in each response. */
  readonly calls: number;
  /** Responses, all at once. */
  readonly count: number;
}

/** Resolves to the milliseconds until all responses were there. */
type Ask = (asked: Asked) => Promise<number>;

const FAN = { input: "fan", calls: 3 } as const;

async function printAdded(ask: Ask): Promise<void> {
  const [ones, twos]: [number[], number[]] = [[], []];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    ones.push(await ask({ input: "chain 1", calls: 1, count: 1 }));
    twos.push(await ask({ input: "chain 2", calls: 2, count: 1 }));
  }
  const added = median(twos) - median(ones) - CALL_MS;
  console.log(`one hosted call adds ${added.toFixed(1)} ms to the tool's own ${CALL_MS} (aim ${ADDED_MS_MAX})`);
}

async function printTogether(ask: Ask, idealOf: () => Promise<number>): Promise<void> {
  const [alone, together, ideal]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await ask({ ...FAN, count: 1 }));
    ideal.push(await idealOf());
    together.push(await ask({ ...FAN, count: AT_ONCE }));
  }
  const ratio = median(together) / median(ideal);
  console.log(
    `${AT_ONCE} responses at once with three calls each take ${median(together).toFixed(0)} ms, the same lists and calls without a server ${median(ideal).toFixed(0)}: ${ratio.toFixed(2)} times (at most ${APART_MAX}). One alone takes ${median(alone).toFixed(0)} ms.`,
  );
}

interface Question extends Asked {
  readonly server: Server;
  readonly mcpUrl: string;
}

/** Throws if a response was not completed, or if one of its calls has no result. */
async function timeOf(load: LoadGenerator, question: Question): Promise<number> {
  const { server, mcpUrl, input, calls, count } = question;
  const tool = { type: "mcp", server_label: "slow", server_url: mcpUrl, require_approval: "never" };
  const { seconds, texts } = await load.performWell({
    port: server.port,
    path: "/v1/responses",
    headers: server.headers,
    body: JSON.stringify({ model: "antiphon-built-in", input, tools: [tool] }),
    count,
    atOnce: count,
    secondsMax: SECONDS_MAX,
    endMark: '"text": "Done."',
    textMark: '"output": "waited"',
    atText: "read",
    isDated: false,
  });
  if (texts !== calls * count) throw new Error(`${count} responses with ${calls} calls each brought ${texts} results`);
  return seconds * 1000;
}
