import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "./processes.ts";

/** An upstream, and the server in front of it with storage on. */
export interface Bench {
  readonly upstreamUrl: string;
  /** With `/v1`. */
  readonly serverUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly server: ChildProcess;
  readonly upstream: ChildProcess;
  /** Posts a create request that is plain but for `members`; resolves to the parsed body. */
  create(members: object): Promise<Record<string, unknown>>;
  post(path: string, body: object): Promise<Record<string, unknown>>;
  /** Asks the upstream itself, and reads its whole answer. */
  askDirectly(messages: readonly object[]): Promise<void>;
}

export interface UpstreamShape {
  readonly tokens: number;
  readonly tokensPerWrite?: number;
  /** Milliseconds between writes; left out: a turn of the event loop. */
  readonly paceMs?: number;
  /** Whether it falls silent after its first token. */
  readonly hangs?: boolean;
}

/** Starts both, uses them, and stops both. */
export async function withServer(
  shape: UpstreamShape,
  use: (bench: Bench) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
  const upstream = await startProgram(
    join(import.meta.dirname, "upstream.ts"),
    {
      TOKENS_PER_ANSWER: String(shape.tokens),
      TOKENS_PER_WRITE: String(shape.tokensPerWrite ?? 1),
      PACE_MS: String(shape.paceMs ?? 0),
      HANGS: String(shape.hangs ?? false),
    },
    /listening (\d+)/,
  );
  const upstreamUrl = `http://127.0.0.1:${upstream.match[1]}/v1`;
  const server = await startProgram(
    join(import.meta.dirname, "../../src/main.ts"),
    {
      NODE_ENV: "production",
      PORT: "0",
      STT_PORT: "0",
      SPEECH_ENGINE: "none",
      DATA_DIR: folder,
      MODEL_BASE_URL: upstreamUrl,
      LOG_LEVEL: "warn",
      ...env,
    },
    /(http:\/\/127\.0\.0\.1:\d+)\/v1/,
  );
  const headers = {
    authorization: `Bearer ${readFileSync(join(folder, "api-key"), "utf8").trim()}`,
    "content-type": "application/json",
  };
  const serverUrl = `${server.match[1]}/v1`;
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const reply = await fetch(`${serverUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await reply.text();
    if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text);
  };
  try {
    await use({
      upstreamUrl,
      serverUrl,
      headers,
      server: server.child,
      upstream: upstream.child,
      post,
      create: (members) => post("/responses", { model: "bench", input: "Hi", ...members }),
      askDirectly: async (messages) => {
        const body = JSON.stringify({ model: "bench", stream: true, messages });
        const reply = await fetch(`${upstreamUrl}/chat/completions`, { method: "POST", headers, body });
        await reply.text();
      },
    });
  } finally {
    server.child.kill("SIGKILL");
    upstream.child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}
