import { expect, onTestFinished, test } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startLocalSttServer } from "../local-stt-server.ts";
import { verifies } from "../verifies.ts";

const KEY = "sk-the-key-of-the-formatter-0123456789";

/** A speech server, and a provider that answers with a status set by the test. */
async function start() {
  let status = 200;
  const provider = await serveChat((response) => {
    response.writeHead(status, { "content-type": "text/event-stream" });
    response.end(status === 200 ? sse(textChunk("Hello there."), lastChunk("stop"), "[DONE]") : KEY);
  });
  const server = await startLocalSttServer({
    env: { FORMATTER_BASE_URL: `${provider.origin}/v1`, FORMATTER_API_KEY: KEY, FORMATTER_MODEL: "small" },
  });
  onTestFinished(() => server.close());
  const ask = async (path: string): Promise<unknown> => (await fetch(`${server.url}${path}`)).json();
  const send = async (path: string, body: object): Promise<void> => {
    const headers = { "content-type": "application/json" };
    await (await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).text();
  };
  const operations = {
    format: () => send("/format", { text: "hello there" }),
    chat: () => send("/demo/chat", { messages: [{ role: "user", content: "hello" }] }),
  };
  return {
    host: new URL(provider.origin).host,
    answerWith: (next: number) => (status = next),
    operations,
    state: async () => [await ask("/healthz"), await ask("/version")],
  };
}

test.each([
  [401, "format"],
  [403, "format"],
  [401, "chat"],
] as const)("a provider that answers %i to /%s turns formatting off until it answers again", async (status, name) => {
  verifies("stt.format.refused-key-shows", "stt.formatter.key-never-shown");
  const { host, answerWith, operations, state } = await start();
  const by = { provider: host, model: "small" };
  const ready = [
    { formatting: { enabled: true, ...by, detail: null } },
    { formatting_tier: { status: "ready", model: "small" }, ai: { formatting: true, demo_chat: true } },
  ];
  const refused = [
    { formatting: { enabled: false, ...by, detail: `${host} refused the key (status ${status}).` } },
    { formatting_tier: { status: "unauthorized", model: null }, ai: { formatting: true, demo_chat: true } },
  ];
  expect(await state()).toMatchObject(ready);
  answerWith(status);
  await operations[name]();
  expect(await state()).toMatchObject(refused);
  expect(JSON.stringify(await state())).not.toContain(KEY);
  answerWith(503);
  await operations[name]();
  expect(await state()).toMatchObject(refused);
  answerWith(200);
  await operations[name]();
  expect(await state()).toMatchObject(ready);
});

test.each([
  ["off", { FORMATTING: "false" }, "Formatting is off."],
  ["no_key", { FORMATTER_BASE_URL: "http://127.0.0.1:9/v1" }, /^No formatting provider is set up, or its key/],
])("formatting that is %s says so in /healthz", async (_status, env, detail) => {
  verifies("stt.health.tells-model-and-formatter");
  const server = await startLocalSttServer({ env });
  onTestFinished(() => server.close());
  const formatting = { enabled: false, provider: null, model: null, detail: expect.stringMatching(detail) };
  expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({ formatting });
});
