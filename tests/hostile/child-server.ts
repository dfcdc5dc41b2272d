import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "..", "..", "src", "main.ts");
const API_KEY = "sk-hostile-tests-0123456789abcdef";

/** The real command in a process of its own, on free ports, with a data folder of its own. */
export interface ChildServer {
  readonly url: string;
  readonly apiKey: string;
  readonly pid: number;
  post(body: unknown): Promise<Response>;
  /** Asks it to stop; gives its exit code, and what it said on stderr. */
  stop(): Promise<{ readonly code: number | null; readonly complaints: string }>;
  remove(): Promise<void>;
}

export async function startChildServer(options: {
  readonly scenario: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}): Promise<ChildServer> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-hostile-"));
  const scenario = join(folder, "scenario.yaml");
  await writeFile(scenario, options.scenario);
  const child = spawn(process.execPath, [...(options.flags ?? []), MAIN], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      API_KEYS: API_KEY,
      DATA_DIR: join(folder, "data"),
      SCENARIO_FILE: scenario,
      LOG_LEVEL: "fatal",
      PORT: "0",
      STT_PORT: "0",
      SPEECH_ENGINE: "none",
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (complaints += String(text)));
  const url = await greetingOf(child);
  return {
    url,
    apiKey: API_KEY,
    pid: child.pid ?? 0,
    post: (body) => {
      const headers = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" };
      return fetch(`${url}/v1/responses`, { method: "POST", headers, body: JSON.stringify(body) });
    },
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, "exit");
        child.kill("SIGTERM");
        await exited;
      }
      return { code: child.exitCode, complaints };
    },
    remove: async () => {
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function greetingOf(child: ChildProcess): Promise<string> {
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => (said += String(text)));
  for (;;) {
    const url = /Responses API\s+(http:\S+)\/v1/.exec(said)?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null) throw new Error(`the server did not start: ${said}`);
    await Promise.race([child.stdout === null ? null : once(child.stdout, "data"), once(child, "exit")]);
  }
}

/** What a process of this machine holds in memory; Linux tells. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}
