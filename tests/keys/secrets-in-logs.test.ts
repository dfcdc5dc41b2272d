import { expect, test } from "vitest";
import { serveChat } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startChildServer } from "../kit/child-server.ts";
import { says, UPSTREAM_KEY } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

const WRONG_KEY = "sk-somebody-elses-key-0123456789abcdef";

test("no log line at any level holds a key", async () => {
  verifies("auth.keys.never-logged", "config.secrets.never-logged");
  let fails = false;
  const upstream = await serveChat((response, call) => {
    if (!fails) return says("Hi")(response, call);
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${UPSTREAM_KEY}.` } }));
  });
  const server = await startChildServer({
    env: { LOG_LEVEL: "trace", MODEL_BASE_URL: `${upstream.origin}/v1`, MODEL_API_KEY: UPSTREAM_KEY },
  });
  const replies: string[] = [];
  const ask = async (path: string, key: string, body: string | null): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const reply = await fetch(server.url + path, body === null ? { headers } : { method: "POST", headers, body });
    replies.push(await reply.text());
  };
  const askAll = async (): Promise<void> => {
    for (const key of [server.apiKey, WRONG_KEY]) {
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
  expect(await server.stop()).toBe(0);
  const lines = server.said();
  expect(lines).toContain('"operationId":"createResponse"');
  for (const secret of [server.apiKey, WRONG_KEY, UPSTREAM_KEY, "Bearer ", "authorization"]) {
    expect(lines.toLowerCase()).not.toContain(secret.toLowerCase());
    expect(replies.join("\n")).not.toContain(secret);
  }
});
