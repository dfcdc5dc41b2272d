import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@antiphon/base/logger.ts";
import { probeBubblewrap } from "@antiphon/sandbox/engines/bubblewrap/bubblewrap-engine.ts";
import { proportionalBytes, readProcessTree } from "@antiphon/sandbox/engines/process-tree.ts";
import { probePyodide } from "@antiphon/sandbox/engines/pyodide/pyodide-engine.ts";
import type { SandboxEngine } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { SandboxSessions } from "@antiphon/sandbox/sessions/sandbox-sessions.ts";
import { openStore, type Store } from "../../src/store/open-store.ts";
import { removeFolder } from "./clean-up.ts";
import { type Server, startServer, THIS_TREE } from "./servers.ts";
import { median } from "./statistics.ts";

const OWNER = { organization: "org_bench", project: "proj_bench" };
const NEVER = new AbortController().signal;
const CODE = "1+1";
/** Prints 50,000 lines here and into an open file, three times by turns, and at last the ratio of processor times. */
const PRINTS = `import sys, time
def cost(file):
    start = time.process_time()
    for number in range(50_000):
        print("line", number, file=file)
    return time.process_time() - start
with open("/dev/null", "w") as plain:
    pairs = [(cost(sys.stdout), cost(plain)) for _ in range(3)]
print(min(own for own, _ in pairs) / min(other for _, other in pairs))`;
const NEW_SESSIONS = 7;
const WARM_CALLS = 60;
const WARM_UP = 10;
const BARE_STARTS = 7;
const AT_ONCE = 4;
const ROUNDS = 3;
const MEBIBYTE = 1024 * 1024;
const GIBIBYTE = 1024 * MEBIBYTE;
const CONTAINER_BYTES = 500_000_000;
const TIMEOUT_MS = 60_000;
const WARM_MS_MAX = 30;
const PRINTS_RATIO_MAX = 2;
const TITLE_WIDTH = 62;
const COLUMN_WIDTH = 22;

/** A figure of each engine, in the order of the titles. */
interface Figures {
  readonly cold: number;
  readonly start: number;
  readonly startHttp: number;
  readonly warm: number;
  readonly warmHttp: number;
  readonly memory: number;
  readonly rate: number;
  readonly prints: number;
}

const ROWS: readonly (readonly [keyof Figures, string, number | null])[] = [
  ["cold", "first response of a new server, with its snapshot made, ms", null],
  ["start", "first call of a session, at the sessions' port, ms", null],
  ["startHttp", "first call of a session, as a whole response over HTTP, ms", null],
  ["warm", `${CODE} in a warm session, at the sessions' port, ms`, WARM_MS_MAX],
  ["warmHttp", `${CODE} in a warm session, as a whole response over HTTP, ms`, WARM_MS_MAX],
  ["memory", "memory of a session that ran it, MiB", null],
  ["prints", "processor time of 50,000 printed lines, beside plain Python", PRINTS_RATIO_MAX],
  ["rate", `sessions a second, ${AT_ONCE} at once, each started, used and ended`, null],
];

/**
 * Measures code in containers with each engine that this machine has, beside a bare Python and a bare Pyodide. A whole
 * response has two turns of the built-in engine and what is stored of it.
 */
export async function measureCode(): Promise<void> {
  const measured: [string, Figures][] = [];
  for (const name of ["bubblewrap", "pyodide"] as const) {
    const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
    try {
      const found = await findEngine(name, folder);
      if (typeof found === "string") console.log(`${name} is left out. ${found}`);
      else measured.push([found.title, { ...(await atPort(found.engine, folder)), ...(await overHttp(name)) }]);
    } finally {
      removeFolder(folder);
    }
  }
  print(measured);
  await printBare();
}

interface Found {
  readonly engine: SandboxEngine;
  readonly title: string;
}

/** The engine that the server would take, or why it is not there. */
async function findEngine(name: "bubblewrap" | "pyodide", cacheFolder: string): Promise<Found | string> {
  if (name === "bubblewrap") {
    const probe = await probeBubblewrap({ python: null, secretFolders: [] }, NEVER);
    return probe.type === "works" ? { engine: probe.engine, title: "Python, bubblewrap" } : probe.why;
  }
  const confined = await probePyodide({ cacheFolder, wheelsFolder: null, confinement: "bubblewrap" }, NEVER);
  if (confined.type === "works") return { engine: confined.engine, title: "Pyodide, bubblewrap" };
  const alone = await probePyodide({ cacheFolder, wheelsFolder: null, confinement: "none" }, NEVER);
  return alone.type === "works" ? { engine: alone.engine, title: "Pyodide" } : alone.why;
}

type AtPort = Pick<Figures, "start" | "warm" | "memory" | "rate" | "prints">;

async function atPort(engine: SandboxEngine, folder: string): Promise<AtPort> {
  const store = await openStore({ file: join(folder, "antiphon.db") });
  const sessions = new SandboxSessions({
    engine,
    containers: store.sessionContainers,
    observer: { countSessions: () => {}, noteEnd: () => {} },
    log: silentLogger,
    timeoutMs: TIMEOUT_MS,
    memoryBytes: GIBIBYTE,
    containerBytesMax: CONTAINER_BYTES,
    sessionsMax: NEW_SESSIONS + 1,
  });
  const call = async (id: string): Promise<void> => {
    const ran = await sessions.runCode(OWNER, id, CODE, NEVER);
    if (ran.type !== "ran" || ran.result.outputs.length !== 1) throw new Error(`${CODE} did not run: ${ran.type}`);
  };
  try {
    const first = await makeContainer(store);
    await call(first);
    const before = await memoryBelow();
    const start = await medianOf(NEW_SESSIONS, async () => await makeContainer(store), call);
    const memory = ((await memoryBelow()) - before) / NEW_SESSIONS / MEBIBYTE;
    for (let count = 0; count < WARM_UP; count += 1) await call(first);
    const warm = await medianOf(WARM_CALLS, async () => first, call);
    const prints = await sessions.runCode(OWNER, first, PRINTS, NEVER);
    return { start, warm, memory, rate: await sessionsEachSecond(engine), prints: lastNumber(prints) };
  } finally {
    await sessions.close();
    await engine.close();
    await store.close();
  }
}

function lastNumber(ran: Awaited<ReturnType<SandboxSessions["runCode"]>>): number {
  const output = ran.type === "ran" ? ran.result.outputs.at(-1) : undefined;
  if (output?.type !== "logs") throw new Error(`the lines were not printed: ${ran.type}`);
  return Number(output.logs.trimEnd().split("\n").at(-1));
}

async function makeContainer({ containers }: Store): Promise<string> {
  const container = { name: "bench", fileIds: [], expiresAfterMinutes: null, memoryLimit: "1g" } as const;
  const made = await containers.createContainer(OWNER, container);
  if (made.type !== "changed") throw new Error(`no container: ${made.refusal.reason}`);
  return made.result.id;
}

async function medianOf<Given>(
  count: number,
  prepare: () => Promise<Given>,
  call: (given: Given) => Promise<void>,
): Promise<number> {
  const times: number[] = [];
  for (let sample = 0; sample < count; sample += 1) {
    const given = await prepare();
    const startedAt = performance.now();
    await call(given);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** Bytes of all processes below this one, counting shared memory once. */
async function memoryBelow(): Promise<number> {
  const tree = await readProcessTree(process.pid);
  return await proportionalBytes(tree.filter(({ id }) => id !== process.pid));
}

async function sessionsEachSecond(engine: SandboxEngine): Promise<number> {
  const limits = { memoryBytes: GIBIBYTE, diskBytes: CONTAINER_BYTES, processesMax: 64 };
  const call = { timeoutMs: TIMEOUT_MS, logCharactersMax: 1000, imagesMax: 0, imageBytesMax: 0 };
  const startedAt = performance.now();
  const work = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const sandbox = await engine.start(limits, NEVER);
      await sandbox.runCode(CODE, call, NEVER);
      await sandbox.kill();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return (AT_ONCE * ROUNDS * 1000) / (performance.now() - startedAt);
}

type OverHttp = Pick<Figures, "cold" | "startHttp" | "warmHttp">;

async function overHttp(engine: "bubblewrap" | "pyodide"): Promise<OverHttp> {
  const env = { MODEL_BASE_URL: "", FIND_LOCAL_DAEMON: "false", CODE_ENGINE: engine };
  const server = await startServer({ root: THIS_TREE, upstream: { port: 1 }, env });
  const call = async (container: string): Promise<void> => await askOver(server, container);
  const newContainer = async (): Promise<string> => idOf(await post(server, "/containers", { name: "bench" }));
  try {
    const cold = await medianOf(1, newContainer, call);
    const startHttp = await medianOf(NEW_SESSIONS, newContainer, call);
    const container = await newContainer();
    for (let count = 0; count < WARM_UP; count += 1) await call(container);
    return { cold, startHttp, warmHttp: await medianOf(WARM_CALLS, async () => container, call) };
  } finally {
    server.stop();
  }
}

/** Has the built-in engine run the code. Throws if no result is shown. */
async function askOver(server: Server, container: string): Promise<void> {
  const text = await post(server, "/responses", {
    model: "antiphon-built-in",
    input: `Use code_interpreter to run "${CODE}"`,
    tools: [{ type: "code_interpreter", container }],
  });
  if (!text.includes("code_interpreter returned: 2")) throw new Error(`${CODE} did not run: ${text.slice(0, 2000)}`);
}

async function post({ port, headers }: Server, path: string, body: object): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${text}`);
  return text;
}

function idOf(text: string): string {
  const { id }: { readonly id: string } = JSON.parse(text);
  return id;
}

function print(measured: readonly (readonly [string, Figures])[]): void {
  const line = (title: string, cells: readonly string[]): string =>
    `${title.padEnd(TITLE_WIDTH)}${cells.map((cell) => cell.padStart(COLUMN_WIDTH)).join("")}`;
  console.log(line("medians", [...measured.map(([title]) => title), "aim"]));
  for (const [key, title, aim] of ROWS) {
    const cells = measured.map(([, figures]) => figures[key]);
    const verdict = aim === null ? "" : cells.every((value) => value < aim) ? "  met" : "  missed";
    console.log(
      `${line(title, [...cells.map((value) => value.toFixed(1)), aim === null ? "–" : `< ${aim}`])}${verdict}`,
    );
  }
}

const BARE_PYODIDE = `
import { loadPyodide } from "pyodide";
const pyodide = await loadPyodide();
if (pyodide.runPython("${CODE}") !== 2) throw new Error("it did not run");
`;

async function printBare(): Promise<void> {
  const python = await medianOf(
    BARE_STARTS,
    async () => {},
    () => run("/usr/bin/python3", ["-c", CODE]),
  );
  console.log(`a bare python3 -c '${CODE}', started and ended: ${python.toFixed(1)} ms`);
  const pyodide = ["--input-type=module", "-e", BARE_PYODIDE];
  const started = await medianOf(
    BARE_STARTS,
    async () => {},
    () => run(process.execPath, pyodide),
  );
  console.log(`a bare Pyodide in a Node process, started, ${CODE} run and ended: ${started.toFixed(1)} ms`);
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { cwd: THIS_TREE, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}
