import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Started, startProgram } from "./processes.ts";

/** An upstream, and the server in front of it with storage on. */
export interface Bench {
  readonly upstreamUrl: string;
  /** Includes `/v1`. */
  readonly serverUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly server: ChildProcess;
  readonly upstream: ChildProcess;
  /** Posts a minimal create request with these `members`; resolves to the parsed body. */
  create(members: object): Promise<Record<string, unknown>>;
  post(path: string, body: object): Promise<Record<string, unknown>>;
  /** Resolves to the body as text. */
  get(path: string): Promise<string>;
  /** Calls the upstream directly and reads its whole answer. */
  askDirectly(messages: readonly object[]): Promise<void>;
}

export interface UpstreamShape {
  readonly tokens: number;
  readonly tokensPerWrite?: number;
  /** Milliseconds between writes; default: a turn of the event loop. */
  readonly paceMs?: number;
  /** Whether the stream stays open after its tokens. */
  readonly hangs?: boolean;
}

/** Starts the upstream and the server, calls `use`, and stops both. */
export async function withServer(
  shape: UpstreamShape,
  use: (bench: Bench) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
  const upstream = await startUpstream(shape);
  const upstreamUrl = `http://127.0.0.1:${upstream.match[1]}/v1`;
  const server = await startServer({ DATA_DIR: folder, MODEL_BASE_URL: upstreamUrl, ...env });
  const authorization = `Bearer ${readFileSync(join(folder, "api-key"), "utf8").trim()}`;
  const headers = { authorization, "content-type": "application/json" };
  const processes = { server: server.child, upstream: upstream.child };
  try {
    await use({ ...processes, ...callsOf({ upstreamUrl, serverUrl: `${server.match[1]}/v1`, headers }) });
  } finally {
    server.child.kill("SIGKILL");
    upstream.child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

function startUpstream({ tokens, tokensPerWrite = 1, paceMs = 0, hangs = false }: UpstreamShape): Promise<Started> {
  const env = {
    TOKENS_PER_ANSWER: String(tokens),
    TOKENS_PER_WRITE: String(tokensPerWrite),
    PACE_MS: String(paceMs),
    HANGS: String(hangs),
  };
  return startProgram(join(import.meta.dirname, "upstream.ts"), env, /listening (\d+)/);
}

function startServer(env: Readonly<Record<string, string>>): Promise<Started> {
  const usual = { NODE_ENV: "production", PORT: "0", STT_PORT: "0", SPEECH_ENGINE: "none", LOG_LEVEL: "warn" };
  const script = join(import.meta.dirname, "../../src/main.ts");
  return startProgram(script, { ...usual, ...env }, /(http:\/\/127\.0\.0\.1:\d+)\/v1/);
}

/** The functions that call both. */
function callsOf(address: Pick<Bench, "upstreamUrl" | "serverUrl" | "headers">): Omit<Bench, "server" | "upstream"> {
  const { upstreamUrl, serverUrl, headers } = address;
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const reply = await fetch(`${serverUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return JSON.parse(await textOf(reply));
  };
  return {
    ...address,
    post,
    get: async (path) => textOf(await fetch(`${serverUrl}${path}`, { headers })),
    create: async (members) => {
      const response = await post("/responses", { model: "bench", input: "Hi", ...members });
      if (response["error"] !== null) throw new Error(`a response failed: ${JSON.stringify(response["error"])}`);
      return response;
    },
    askDirectly: async (messages) => {
      const body = JSON.stringify({ model: "bench", stream: true, messages });
      await textOf(await fetch(`${upstreamUrl}/chat/completions`, { method: "POST", headers, body }));
    },
  };
}

/** The body of a reply. Throws for any status but 200, which ends the bench. */
export async function textOf(reply: Response): Promise<string> {
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${reply.url} answered ${reply.status}: ${text.slice(0, 500)}`);
  return text;
}
