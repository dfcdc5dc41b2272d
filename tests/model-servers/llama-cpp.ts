import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../kit/http-server.ts";

/** What `make real-model` makes. Without it the tests are skipped. */
const FOLDER = resolve(import.meta.dirname, "../../.cache/real-model");
const PYTHON = join(FOLDER, "venv/bin/python");
const MODEL_FILE = join(FOLDER, "tiny.gguf");
const START_MS_MAX = 60_000;
const LOOK_MS = 100;

export const hasLlamaCpp = existsSync(PYTHON) && existsSync(MODEL_FILE);

/** The name and the window, in tokens, of the model of random weights. */
export const MODEL = "tiny";
export const WINDOW = 1024;

export interface LlamaCpp {
  /** Ends with `/v1`. */
  readonly baseUrl: string;
  /** Ends the process at once. */
  kill(): Promise<void>;
}

/**
 * Starts the server of llama-cpp-python. By default it ends the stream of one request when another comes; with
 * `isPatient` the other waits.
 */
export async function startLlamaCpp({ isPatient = true } = {}): Promise<LlamaCpp> {
  const port = await freePort();
  const settings = { model: MODEL_FILE, model_alias: MODEL, port, n_ctx: WINDOW, interrupt_requests: !isPatient };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(PYTHON, ["-m", "llama_cpp.server", ...args], { stdio: "ignore" });
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  for (const end = Date.now() + START_MS_MAX; Date.now() < end && child.exitCode === null; await sleep(LOOK_MS)) {
    const models = await fetch(`${baseUrl}/models`).catch(() => null);
    if (models?.ok === true) return { baseUrl, kill: () => kill(child) };
  }
  await kill(child);
  throw new Error("the model server did not start");
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
