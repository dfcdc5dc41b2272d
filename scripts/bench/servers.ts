import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanUp, removeFolder } from "./clean-up.ts";
import { startProgram } from "./processes.ts";

/** The folder of this checkout. */
export const THIS_TREE = join(import.meta.dirname, "../..");

export interface Upstream {
  readonly port: number;
  readonly pid: number;
  stop(): void;
}

/** A server with storage on. */
export interface Server {
  readonly port: number;
  readonly pid: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Its data. */
  readonly folder: string;
  /** How it ended by itself; null while it runs. */
  fault(): string | null;
  stop(): void;
}

export interface ServerOptions {
  /** The checkout whose server it is. */
  readonly root: string;
  readonly upstream: Pick<Upstream, "port">;
  readonly env?: Readonly<Record<string, string>>;
  /** Added to those with which `make start` starts this tree. */
  readonly nodeFlags?: readonly string[];
}

/** What the benches need more than the usual settings allow. */
const SETTINGS = {
  NODE_ENV: "production",
  PORT: "0",
  STT_PORT: "0",
  SPEECH_ENGINE: "none",
  LOG_LEVEL: "warn",
  MODEL_CONNECTIONS_MAX: "8192",
  RUNS_MAX: "8192",
};

const SERVER_FLAGS = process.env["SERVER_FLAGS"]?.split(" ").filter(Boolean) ?? [];

export async function startUpstream(): Promise<Upstream> {
  const { child, match } = await startProgram(join(import.meta.dirname, "upstream.ts"), {}, /listening (\d+)/);
  return { port: Number(match[1]), pid: pidOf(child), stop: cleanUp(() => child.kill("SIGKILL")) };
}

export async function startServer({ root, upstream, env = {}, nodeFlags = [] }: ServerOptions): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
  const model = { DATA_DIR: folder, MODEL_BASE_URL: `http://127.0.0.1:${upstream.port}/v1` };
  const ready = /http:\/\/127\.0\.0\.1:(\d+)\/v1/;
  const settings = { ...SETTINGS, ...model, ...env };
  const flags = [...(root === THIS_TREE ? SERVER_FLAGS : []), ...nodeFlags];
  const { child, match } = await startProgram(join(root, "src/main.ts"), settings, ready, flags);
  let fault: string | null = null;
  child.once("exit", (code, signal) => {
    fault = `the server ended by itself, with ${signal ?? `exit code ${code}`}`;
  });
  const stop = cleanUp(() => {
    child.removeAllListeners("exit");
    child.kill("SIGKILL");
    removeFolder(folder);
  });
  const key = env["API_KEYS"]?.split("=")[0] ?? readFileSync(join(folder, "api-key"), "utf8").trim();
  const authorization = `Bearer ${key}`;
  const headers = { authorization, "content-type": "application/json" };
  return { port: Number(match[1]), pid: pidOf(child), headers, folder, fault: () => fault, stop };
}

function pidOf(child: ChildProcess): number {
  return child.pid ?? Number.NaN;
}
