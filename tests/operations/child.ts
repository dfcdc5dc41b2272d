import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
export const CALLER_KEY = "sk-callers-own-key-0123456789abcdef";

/** The real command in a process of its own. Ends with the test. */
export interface Child {
  readonly url: string;
  /** Everything that it printed so far. */
  said(): string;
  /** The lines of its log so far. */
  lines(): readonly Readonly<Record<string, unknown>>[];
  fetch(path: string, init?: RequestInit): Promise<Response>;
  create(members: object, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Asks it to stop, without waiting for that. */
  terminate(): void;
  /** Asks it to stop; its exit code. */
  stop(): Promise<number | null>;
}

export async function startChild(env: Readonly<Record<string, string>>): Promise<Child> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-operations-"));
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      API_KEYS: `${CALLER_KEY}=acme/web`,
      DATA_DIR: join(folder, "data"),
      FIND_LOCAL_DAEMON: "false",
      PORT: "0",
      STT_PORT: "0",
      ...env,
    },
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (said += String(text)));
  const urlIn = (): string | undefined => /Responses API\s+(http:\S+)\/v1/.exec(said)?.[1];
  while (urlIn() === undefined && child.exitCode === null) await Promise.race([once(child.stdout, "data"), exited]);
  const url = urlIn();
  if (url === undefined) throw new Error(`the server did not start: ${said}`);
  const call = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${CALLER_KEY}`);
    return fetch(url + path, { ...init, headers });
  };
  return {
    url,
    said: () => said,
    lines: () =>
      said
        .split("\n")
        .filter((line) => line.startsWith("{") && line.endsWith("}"))
        .map((line) => JSON.parse(line)),
    fetch: call,
    create: (members, headers = {}) =>
      call("/v1/responses", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(members),
      }),
    terminate: () => void child.kill("SIGTERM"),
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
      return child.exitCode;
    },
  };
}
