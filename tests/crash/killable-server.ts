import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "..", "..", "src", "main.ts");
const API_KEY = "sk-crash-tests-0123456789abcdef";

/** The real command in a process of its own, over a data folder that outlives it. */
export interface KillableServer {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown): Promise<Response>;
  /** Kills it without warning; resolves when it is gone. */
  kill(): Promise<void>;
  /** Asks it to stop; resolves to its exit code. */
  stop(): Promise<number | null>;
  /** Stops its clock, so to speak: it hears and does nothing until `resume`. */
  pause(): void;
  resume(): void;
}

export async function startKillable(
  dataDir: string,
  modelUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<KillableServer> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      NODE_ENV: "production",
      API_KEYS: API_KEY,
      DATA_DIR: dataDir,
      MODEL_BASE_URL: modelUrl,
      LOG_LEVEL: "fatal",
      PORT: "0",
      STT_PORT: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await greetingOf(child);
  const headers = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" };
  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, { headers, ...init });
  const end = async (signal: "SIGKILL" | "SIGTERM"): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  };
  return {
    fetch: call,
    post: (path, body) => call(path, { method: "POST", body: JSON.stringify(body) }),
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
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
