import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serveChat } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { says, UPSTREAM_KEY } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
const CALLER_KEY = "sk-callers-own-key-0123456789abcdef";
const WRONG_KEY = "sk-somebody-elses-key-0123456789abcdef";

/** The real command, logging all it can, in front of a model server; `said` is everything it printed so far. */
async function startTalkative(
  modelUrl: string,
): Promise<{ url: string; said: () => string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-secrets-"));
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      LOG_LEVEL: "trace",
      API_KEYS: `${CALLER_KEY}=acme/web`,
      MODEL_BASE_URL: modelUrl,
      MODEL_API_KEY: UPSTREAM_KEY,
      DATA_DIR: join(folder, "data"),
      PORT: "0",
      STT_PORT: "0",
    },
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (said += String(text)));
  const urlIn = (): string | undefined => /Responses API\s+(http:\S+)\/v1/.exec(said)?.[1];
  while (urlIn() === undefined && child.exitCode === null)
    await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  return {
    url: urlIn() ?? said,
    said: () => said,
    stop: async () => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

test("no line of the log, at any level, holds a key", async () => {
  verifies("auth.keys.never-logged", "config.secrets.never-logged");
  let fails = false;
  const upstream = await serveChat((response, call) => {
    if (!fails) return says("Hi")(response, call);
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${UPSTREAM_KEY}.` } }));
  });
  const server = await startTalkative(`${upstream.origin}/v1`);
  const replies: string[] = [];
  const ask = async (path: string, key: string, body: string | null): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const reply = await fetch(server.url + path, body === null ? { headers } : { method: "POST", headers, body });
    replies.push(await reply.text());
  };
  const askAll = async (): Promise<void> => {
    for (const key of [CALLER_KEY, WRONG_KEY]) {
      await ask("/v1/models", key, null);
      await ask("/v1/responses/resp_nothing", key, null);
      await ask("/v1/responses", key, "{");
      for (const stream of [true, false])
        await ask("/v1/responses", key, JSON.stringify({ model: "m", input: "Hi", stream }));
      await ask("/v1/responses", key, JSON.stringify({ model: "m", input: "Hi", background: true }));
    }
  };
  await askAll();
  fails = true;
  await askAll();
  await server.stop();
  const lines = server.said();
  expect(lines).toContain('"operationId":"createResponse"');
  for (const secret of [CALLER_KEY, WRONG_KEY, UPSTREAM_KEY, "Bearer ", "authorization"]) {
    expect(lines.toLowerCase()).not.toContain(secret.toLowerCase());
    expect(replies.join("\n")).not.toContain(secret);
  }
});
