import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { removeFolder } from "./clean-up.ts";
import { startProgram } from "./processes.ts";
import { type Server, startServer, THIS_TREE } from "./servers.ts";
import { median } from "./statistics.ts";
import { CALL_MS, SCENARIO } from "./tools-shape.ts";

const SAMPLES = 40;
const WARM_UP = 40;
const AT_ONCE = 64;
const ROUNDS = 9;
const IDEAL_ROUNDS = 9;
const ADDED_MS_MAX = 5;
const APART_MAX = 1.3;

/**
 * Measures what the tool loop adds to the tools' own time, with an MCP server whose tool takes 50 ms and the built-in
 * engine: one call more in a response, and 64 responses at once with three calls each. The ideal for these is the same
 * work without a server of ours: a bare Node process that lists and calls as often with the same client library, over
 * one open connection. The MCP server has the same machine in both, so its processor time is in both. The time of one
 * response alone is printed too: it is the ideal on a machine with a core for each response.
 */
export async function measureTools(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
  const scenario = join(folder, "scenario.yaml");
  writeFileSync(scenario, stringify(SCENARIO));
  const mcp = await startProgram(join(import.meta.dirname, "slow-mcp-server.ts"), {}, /listening (\d+)/);
  const env = { MODEL_BASE_URL: "", FIND_LOCAL_DAEMON: "false", SCENARIO_FILE: scenario, EGRESS_ALLOW: "127.0.0.1" };
  const server = await startServer({ root: THIS_TREE, upstream: { port: 1 }, env });
  try {
    const mcpUrl = `http://127.0.0.1:${mcp.match[1]}/mcp`;
    const ask = (input: string): Promise<number> => timeOf(server, mcpUrl, input);
    for (let count = 0; count < WARM_UP; count += 1) await ask(count % 2 === 0 ? "chain 2" : "fan");
    await printAdded(ask);
    await printTogether(ask, mcpUrl);
  } finally {
    server.stop();
    mcp.child.kill("SIGKILL");
    removeFolder(folder);
  }
}

type Ask = (input: string) => Promise<number>;

async function printAdded(ask: Ask): Promise<void> {
  const [ones, twos]: [number[], number[]] = [[], []];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    ones.push(await ask("chain 1"));
    twos.push(await ask("chain 2"));
  }
  const added = median(twos) - median(ones) - CALL_MS;
  console.log(`one hosted call adds ${added.toFixed(1)} ms to the tool's own ${CALL_MS} (aim ${ADDED_MS_MAX})`);
}

async function printTogether(ask: Ask, mcpUrl: string): Promise<void> {
  const [alone, together, ideal]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await ask("fan"));
    ideal.push(await idealOf(mcpUrl));
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, () => ask("fan")));
    together.push(performance.now() - startedAt);
  }
  const ratio = median(together) / median(ideal);
  console.log(
    `${AT_ONCE} responses at once with three calls each take ${median(together).toFixed(0)} ms, the same lists and calls without a server ${median(ideal).toFixed(0)}: ${ratio.toFixed(2)} times (aim ${APART_MAX}). One alone takes ${median(alone).toFixed(0)} ms.`,
  );
}

/** The median time of the same lists and calls in a bare process, warm. */
async function idealOf(mcpUrl: string): Promise<number> {
  const script = join(import.meta.dirname, "mcp-clients.ts");
  const env = { MCP_URL: mcpUrl, TASKS: String(AT_ONCE), ROUNDS: String(IDEAL_ROUNDS) };
  const { child, match } = await startProgram(script, env, /took ([\d.]+)/);
  child.kill("SIGKILL");
  return Number(match[1]);
}

/** Milliseconds of a whole response. Throws if it was not completed. */
async function timeOf({ port, headers }: Server, mcpUrl: string, input: string): Promise<number> {
  const tool = { type: "mcp", server_label: "slow", server_url: mcpUrl, require_approval: "never" };
  const body = JSON.stringify({ model: "antiphon-built-in", input, tools: [tool] });
  const startedAt = performance.now();
  const reply = await fetch(`http://127.0.0.1:${port}/v1/responses`, { method: "POST", headers, body });
  const text = await reply.text();
  if (!reply.ok || !text.includes("waited") || !text.includes("Done.")) throw new Error(`no answer: ${text}`);
  return performance.now() - startedAt;
}
