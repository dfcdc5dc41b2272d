import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isRecord } from "@antiphon/base/json/records.ts";

const ROOT = join(import.meta.dirname, "..");
const ROOT_URL = `${pathToFileURL(ROOT).href}/`;

/** A server in its own process. V8 counts its function calls. */
export interface CoveredServer {
  /** URL of the speech-to-text server, without a trailing slash. */
  readonly speechUrl: string;
  /** Resets the counts. */
  forget(): Promise<void>;
  /** Paths of the files with a function that was called since the last reset. */
  filesCalled(): Promise<readonly string[]>;
  /** Calls the Responses API. Throws if the status is not a success. */
  fetch(path: string, body?: object): Promise<Response>;
  stop(): Promise<void>;
}

export interface CoveredServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Text of a scenario file for the built-in engine. */
  readonly scenario?: string;
}

/** Starts the server with a temporary data folder. It loads no module before counting has started. */
export async function startCoveredServer({ env = {}, scenario }: CoveredServerOptions): Promise<CoveredServer> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-covered-"));
  const scenarioFile = join(folder, "scenario.yaml");
  if (scenario !== undefined) await writeFile(scenarioFile, scenario);
  const child = spawn(process.execPath, ["--inspect-wait=127.0.0.1:0", join(ROOT, "src/main.ts")], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      DATA_DIR: join(folder, "data"),
      FIND_LOCAL_DAEMON: "false",
      PORT: "0",
      STT_PORT: "0",
      SPEECH_ENGINE: "none",
      ...(scenario === undefined ? {} : { SCENARIO_FILE: scenarioFile }),
      ...env,
    },
  });
  const said = linesOf(child);
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const counts = await countCalls(await said(/Debugger listening on (ws:\S+)/));
    const responsesUrl = await said(/Responses API\s+(http:\S+)\/v1/);
    const speechUrl = await said(/Speech to text\s+(http:\S+)/);
    const key = (await readFile(join(folder, "data/api-key"), "utf8")).trim();
    return { speechUrl, ...counts, fetch: callsOf(responsesUrl, key), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function callsOf(url: string, key: string): CoveredServer["fetch"] {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return async (path, body) => {
    const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const reply = await fetch(url + path, { headers, ...post });
    if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
    return reply;
  };
}

/** Waits for a line that matches a pattern, and returns the captured text. */
function linesOf(child: ChildProcessWithoutNullStreams): (pattern: RegExp) => Promise<string> {
  let said = "";
  let wake = (): void => {};
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      wake();
    });
  child.once("close", () => wake());
  return async (pattern) => {
    for (;;) {
      const found = pattern.exec(said)?.[1];
      if (found !== undefined) return found;
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the server did not start: ${said}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}

/** Starts counting through the inspector at this address, then lets the program run. */
async function countCalls(address: string): Promise<Pick<CoveredServer, "forget" | "filesCalled">> {
  const ask = await openInspector(address);
  await ask("Profiler.enable");
  await ask("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await ask("Runtime.runIfWaitingForDebugger");
  const take = (): Promise<unknown> => ask("Profiler.takePreciseCoverage");
  return {
    forget: async () => void (await take()),
    filesCalled: async () => calledFiles(await take()).toSorted(),
  };
}

type Ask = (method: string, params?: object) => Promise<unknown>;

async function openInspector(address: string): Promise<Ask> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const message: unknown = JSON.parse(String(data));
    if (!isRecord(message) || typeof message["id"] !== "number") return;
    if (message["error"] !== undefined) throw new Error(`the inspector refused: ${JSON.stringify(message["error"])}`);
    waiting.get(message["id"])?.(message["result"]);
    waiting.delete(message["id"]);
  });
  await once(socket, "open");
  let asked = 0;
  return (method, params = {}) => {
    const id = ++asked;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => waiting.set(id, resolve));
  };
}

/**
 * The files with a called function. The top level of a module, which V8 reports as its first function, does not count.
 */
function calledFiles(coverage: unknown): string[] {
  return listOf(coverage, "result")
    .filter((script) => listOf(script, "functions").some((found) => !isModule(found) && callsOfFunction(found) > 0))
    .map(({ url }) => String(url))
    .filter((url) => url.startsWith(ROOT_URL))
    .map((url) => url.slice(ROOT_URL.length))
    .filter((path) => !path.startsWith("node_modules/"));
}

function isModule(found: Readonly<Record<string, unknown>>): boolean {
  return found["functionName"] === "" && listOf(found, "ranges")[0]?.["startOffset"] === 0;
}

function callsOfFunction(found: Readonly<Record<string, unknown>>): number {
  return Number(listOf(found, "ranges")[0]?.["count"] ?? 0);
}

function listOf(value: unknown, member: string): Readonly<Record<string, unknown>>[] {
  const list = isRecord(value) ? value[member] : null;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
