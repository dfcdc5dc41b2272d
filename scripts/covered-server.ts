import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isRecord } from "../src/base/json/records.ts";

const ROOT = join(import.meta.dirname, "..");
const ROOT_URL = `${pathToFileURL(ROOT).href}/`;

/** The server in a process of its own, whose calls of functions V8 counts. */
export interface CoveredServer {
  /** Of the speech-to-text server, without a slash at its end. */
  readonly speechUrl: string;
  /** Sets the counts back to nothing. */
  forget(): Promise<void>;
  /** Files of which a function was called since the counts were last taken, from the repository's root. */
  filesCalled(): Promise<readonly string[]>;
  /** Asks the Responses API; throws for anything but a success. */
  fetch(path: string, body?: object): Promise<Response>;
  stop(): Promise<void>;
}

export interface CoveredServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The text of a scenario file of the built-in engine. */
  readonly scenario?: string;
}

/** Starts it on a temporary data folder. It waits for the counting to begin before it reads its first module. */
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

/** Waits for a line that a pattern fits, and gives what it captures. */
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

/** Begins to count through the inspector at this address, and lets the program run. */
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

/** Files with a function that was called; a module's own code, which V8 counts as its first function, is none. */
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
