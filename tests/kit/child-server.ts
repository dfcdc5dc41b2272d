import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFailed, onTestFinished } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";
import { storeSettings } from "./tested-store.ts";
import { withSealKeys } from "./with-seal-keys.ts";

const THIS_TREE = join(import.meta.dirname, "../..");
const API_KEY = "sk-callers-own-key-0123456789abcdef";

/** The real command in a process of its own, on free ports. */
export interface ChildServer {
  /** Has no trailing slash and no `/v1`. */
  readonly url: string;
  /** The server's key. Its owner is organization `acme`, project `web`, unless the test sets `API_KEYS`. */
  readonly apiKey: string;
  readonly pid: number;
  /** Everything printed so far, log included. */
  said(): string;
  /** The lines of the log so far. */
  lines(): readonly Readonly<Record<string, unknown>>[];
  /** Everything printed on stderr so far. */
  complaints(): string;
  /** Calls the server with its key, unless `init` has another. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
  readonly post: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  /** Sends SIGTERM; resolves to the exit code once the process has ended. */
  stop(signal?: "SIGTERM" | "SIGINT"): Promise<number | null>;
  /** Sends SIGKILL; resolves once the process has ended. */
  kill(): Promise<void>;
  /** Suspends the process (SIGSTOP) until `resume`. */
  pause(): void;
  resume(): void;
}

export interface ChildServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The text of a scenario file for the built-in engine. */
  readonly scenario?: string;
  /** A program that runs the server, with its arguments. The server's command line follows them. */
  readonly under?: readonly string[];
  /** The folder of the project, of which another version may lie elsewhere. */
  readonly root?: string;
  /** Options of Node itself. */
  readonly flags?: readonly string[];
}

/** Starts the server on a new data folder, unless `env` names one. The server ends with the test at the latest. */
export async function startChildServer(options: ChildServerOptions = {}): Promise<ChildServer> {
  const folder = temporaryFolder();
  const scenario = join(folder, "scenario.yaml");
  if (options.scenario !== undefined) await writeFile(scenario, options.scenario);
  const dataDir = options.env?.["DATA_DIR"] ?? join(folder, "data");
  const store = await storeSettings(dataDir);
  const main = join(options.root ?? THIS_TREE, "src/main.ts");
  const [program, ...rest] = [...(options.under ?? []), process.execPath, ...(options.flags ?? []), main];
  const child = spawn(program, rest, {
    cwd: folder,
    env: withSealKeys({
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      API_KEYS: `${API_KEY}=acme/web`,
      DATA_DIR: dataDir,
      CODE_ENGINE: "off",
      FIND_LOCAL_DAEMON: "false",
      LOG_LEVEL: "fatal",
      PORT: "0",
      STT_PORT: "0",
      SPEECH_ENGINE: "none",
      ...store,
      ...(options.scenario === undefined ? {} : { SCENARIO_FILE: scenario }),
      ...options.env,
    }),
  });
  const end = endOf(child);
  onTestFinished(() => end("SIGKILL"));
  const heard = hear(child);
  onTestFailed(() => console.error(heard.complaints()));
  const url = await greetingOf(child, heard.said);
  return {
    url,
    apiKey: API_KEY,
    pid: child.pid ?? 0,
    ...heard,
    ...callsOf(url),
    stop: async (signal = "SIGTERM") => {
      await end(signal);
      return child.exitCode;
    },
    kill: () => end("SIGKILL"),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
}

/** Sends a signal, unless the process has ended, and waits for its end. */
function endOf(child: ChildProcessWithoutNullStreams): (signal: NodeJS.Signals) => Promise<void> {
  const closed = once(child, "close"); // The process has exited, and all its output has been read.
  return async (signal) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await closed;
  };
}

function hear(child: ChildProcessWithoutNullStreams): Pick<ChildServer, "said" | "lines" | "complaints"> {
  let [said, complaints] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (said += String(text)));
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said += String(text);
    complaints += String(text);
  });
  const isLine = (line: string): boolean => line.startsWith("{") && line.endsWith("}");
  return {
    said: () => said,
    lines: () =>
      said
        .split("\n")
        .filter(isLine)
        .map((line) => JSON.parse(line)),
    complaints: () => complaints,
  };
}

async function greetingOf(child: ChildProcessWithoutNullStreams, said: () => string): Promise<string> {
  const exited = once(child, "exit");
  for (;;) {
    const url = /Responses API\s+(http:\S+)\/v1/.exec(said())?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the server did not start: ${said()}`);
    await Promise.race([once(child.stdout, "data"), exited]);
  }
}

function callsOf(url: string): Pick<ChildServer, "fetch" | "post"> {
  const call = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${API_KEY}`);
    return fetch(url + path, { ...init, headers });
  };
  return {
    fetch: call,
    post: (path, body, headers = {}) =>
      call(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
  };
}
