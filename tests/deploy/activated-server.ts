import { setTimeout as sleep } from "node:timers/promises";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { freePort } from "../kit/http-server.ts";

export interface Activated {
  readonly server: ChildServer;
  readonly ports: { readonly api: number; readonly speech: number };
}

/** Starts the server as systemd does: at the first connection to one of its sockets. */
export async function activated(
  env: Readonly<Record<string, string>>,
  { root, passesKey = false }: { readonly root?: string; readonly passesKey?: boolean } = {},
): Promise<Activated> {
  const ports = { api: await freePort(), speech: await freePort() };
  const named = [...PASSED, ...Object.keys(env), ...(passesKey ? ["API_KEYS"] : [])];
  const passed = named.flatMap((name) => ["-E", name]);
  const listening = [ports.api, ports.speech].flatMap((port) => ["-l", `127.0.0.1:${port}`]);
  const under = ["systemd-socket-activate", ...listening, "--fdname=responses-api:speech", ...passed];
  const starting = startChildServer({ under, env, ...(root === undefined ? {} : { root }) });
  let isStarting = true;
  const started = starting.finally(() => (isStarting = false));
  while (isStarting) {
    await Promise.race([started, fetch(`http://127.0.0.1:${ports.api}/healthz`).catch(() => sleep(50))]);
  }
  return { server: await started, ports };
}

/** What the server is started with, beside what a test adds. */
const PASSED = (
  "CODE_ENGINE DATA_DIR FIND_LOCAL_DAEMON LOG_LEVEL NODE_COMPILE_CACHE PORT SPEECH_ENGINE STT_PORT SEAL_KEYS " +
  "DATABASE_URL"
).split(" ");
