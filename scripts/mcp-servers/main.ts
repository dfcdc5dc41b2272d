/**
 * Tries programs of others that speak MCP, from npm and PyPI, and a server that needs OAuth, each through a whole
 * server with the built-in engine: operator's servers by their labels, and this server's own `/mcp` by its address.
 * Prints how many worked, and the reason of each failure. Arguments are labels.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OutputItem, Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { cleanUp, removeFolder } from "../bench/clean-up.ts";
import { listenOnLoopback, serveGuarded } from "./guarded-server.ts";
import { type Trial, type TrialStep, trialsIn } from "./trials.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
const KEY = "a-key-of-the-trial";
const OWN = "antiphon";
const OWN_STEPS: readonly TrialStep[] = [{ tool: "list_vector_stores", arguments: {}, output: /herons/ }];
/** Browsers and interpreters take long to start. */
const PATIENCE = { MCP_LIST_TIMEOUT_MS: "60s", MCP_CALL_TIMEOUT_MS: "120s" };

type ServerEntry = ReturnType<Trial["entry"]>;

/** A server, and how it was. */
interface Verdict {
  readonly label: string;
  /** Why it failed; null if it worked. */
  readonly failure: string | null;
  readonly seconds: number;
}

const asked = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "antiphon-mcp-servers-"));
cleanUp(() => removeFolder(folder));
const trials = trialsIn(folder, await servePage(), await serveGuarded()).filter(({ label }) => isAsked(label));
const prepared = trials.map((trial) => ({ trial, entry: entryOf(trial) }));
const url = await startServer(prepared);
const verdicts: Verdict[] = [];
for (const { trial, entry } of prepared)
  tell(typeof entry === "string" ? { label: trial.label, failure: entry, seconds: 0 } : await tryServer(trial, {}));
if (isAsked(OWN)) {
  await post("/v1/vector_stores", { name: "herons" });
  tell(await tryServer({ label: OWN, steps: OWN_STEPS }, { server_url: `${url}/mcp`, authorization: KEY }));
}
const countRight = verdicts.filter(({ failure }) => failure === null).length;
console.log(`${countRight} of ${verdicts.length} servers work`);
process.exit(countRight === verdicts.length ? 0 : 1);

function isAsked(label: string): boolean {
  return asked.length === 0 || asked.includes(label);
}

function tell(verdict: Verdict): void {
  verdicts.push(verdict);
  const { label, failure, seconds } = verdict;
  console.log(`${label.padEnd(20)} ${failure === null ? `works, ${seconds.toFixed(1)} s` : `FAILS: ${failure}`}`);
}

/** Its entry, or the reason why it cannot be had. */
function entryOf({ entry }: Trial): ServerEntry | string {
  try {
    return entry();
  } catch (error) {
    return `it cannot be installed: ${error instanceof Error ? error.message.split("\n")[0] : ""}`;
  }
}

/** Lets the model make all calls in one response, and looks at what it was shown. */
async function tryServer({ label, steps }: Pick<Trial, "label" | "steps">, reach: object): Promise<Verdict> {
  const before = performance.now();
  const verdict = (failure: string | null): Verdict => ({
    label,
    failure,
    seconds: (performance.now() - before) / 1000,
  });
  const tool = { type: "mcp", server_label: label, require_approval: "never", ...reach };
  const reply = await post("/v1/responses", { model: "antiphon-built-in", input: `try ${label}`, tools: [tool] });
  if (!reply.ok) return verdict(`${reply.status} ${await reply.text()}`);
  const { output }: Pick<ResponseBody, "output"> = await reply.json();
  const made = output.filter((item) => item.type === "mcp_call");
  const faults = steps.flatMap((step, index) => faultOf(step, made[index]) ?? []);
  return verdict(faults[0] ?? null);
}

function faultOf(
  { tool, output }: TrialStep,
  item: Extract<OutputItem, { type: "mcp_call" }> | undefined,
): string | null {
  if (item === undefined) return `${tool} was not called`;
  if (item.error != null) return `${tool} failed: ${JSON.stringify(item.error)}`;
  return output.test(item.output ?? "") ? null : `${tool} returned ${JSON.stringify(item.output)}`;
}

async function post(path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  return await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

/** JSON is YAML. The model calls the next tool for each output that it has. */
function scenarioText(): string {
  const all = [...trials, ...(isAsked(OWN) ? [{ label: OWN, steps: OWN_STEPS }] : [])];
  const scenarios = all.flatMap(({ label, steps }) =>
    steps.map((step, index) => ({
      when: { input_contains: `try ${label}`, tool_outputs: index },
      events: [{ call: { name: step.tool, namespace: label, arguments: step.arguments } }],
    })),
  );
  return JSON.stringify({
    scenarios: [...scenarios, { when: { has_tool_output: true }, events: [{ text: "Done." }] }],
  });
}

async function servePage(): Promise<string> {
  const origin = await listenOnLoopback((request, response) => {
    if (request.url !== "/") return void response.writeHead(404).end();
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>Herons</title><main><h1>Herons</h1><p>Herons wait.</p></main>");
  });
  return `${origin}/`;
}

async function startServer(entries: readonly { trial: Trial; entry: ServerEntry | string }[]): Promise<string> {
  const file = join(folder, "servers.yaml");
  const scenario = join(folder, "scenario.yaml");
  const programs = entries.flatMap(({ trial, entry }) => (typeof entry === "string" ? [] : [[trial.label, entry]]));
  writeFileSync(file, JSON.stringify({ servers: Object.fromEntries(programs) }));
  writeFileSync(scenario, scenarioText());
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  const child = spawn(process.execPath, [MAIN], {
    cwd: dataDir,
    env: {
      ...process.env,
      ...PATIENCE,
      DATA_DIR: dataDir,
      MCP_SERVERS_FILE: file,
      SCENARIO_FILE: scenario,
      EGRESS_ALLOW: "127.0.0.1",
      EMBEDDING_FILE: "none",
      API_KEYS: KEY,
      PORT: "0",
      STT_PORT: "0",
      SPEECH_ENGINE: "none",
      CODE_ENGINE: "off",
      FIND_LOCAL_DAEMON: "false",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  cleanUp(() => child.kill());
  child.stderr.resume();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  child.stdout.on("data", (bytes: Buffer) => {
    const found = /Responses API +(\S+)\/v1/.exec(bytes.toString())?.[1];
    if (found !== undefined) resolve(found);
  });
  return await promise;
}
