import { expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startChildServer } from "../kit/child-server.ts";
import { serveHttp } from "../kit/http-server.ts";
import { startTestServer } from "../kit/test-server.ts";
import { checkReply } from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";

const ANSWER = sse(textChunk("Hello"), lastChunk("stop"), "[DONE]");

/** A model server whose API is under `/v1`. The path before it is answered as the reference does. */
async function serveModel() {
  const { url, paths } = await serveHttp((request, response) => {
    const path = request.url ?? "";
    request.resume();
    if (path === "/v1/models") return response.end('{"data":[{"id":"m"}]}');
    if (path === "/v1/chat/completions") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.end(ANSWER);
    }
    response.writeHead(404, { "content-type": "application/json" });
    const error = { message: `Invalid URL (${request.method} ${path})`, type: "invalid_request_error" };
    return response.end(JSON.stringify({ error }));
  });
  return { url, paths };
}

test("a MODEL_BASE_URL without /v1 works, and the log says what it lacks", async () => {
  verifies("chat-engine.base-url.finds-v1");
  const { url, paths } = await serveModel();
  const warnings: string[] = [];
  const ignore = (): void => {};
  const log = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (_fields: object, text: string) => warnings.push(text),
  };
  const server = await startTestServer({ env: { MODEL_BASE_URL: `${url}/` }, log });

  const reply = await server.post("/v1/responses", { model: "m", input: "Hi" });

  expect([reply.status, await reply.json()]).toMatchObject([200, { output: [{ content: [{ text: "Hello" }] }] }]);
  expect(await (await server.fetch("/v1/models")).json()).toMatchObject({ data: [{ id: "m" }] });
  expect(paths).toEqual(["/models", "/v1/models", "/v1/chat/completions", "/v1/models"]);
  expect(warnings.filter((text) => text.includes("MODEL_BASE_URL"))).toEqual([
    "MODEL_BASE_URL lacks a path; using /v1",
  ]);
});

test("a MODEL_BASE_URL with a wrong path is 502, and the text names the setting", async () => {
  verifies("chat-engine.base-url.names-the-setting");
  const { url } = await serveModel();
  const server = await startTestServer({ env: { MODEL_BASE_URL: `${url}/api` } });

  await checkReply(await server.post("/v1/responses", { model: "m", input: "Hi" }), {
    status: 502,
    type: "server_error",
    code: "server_error",
    param: null,
    message: /\(MODEL_BASE_URL\), which usually ends in \/v1; your request is not the cause\.$/,
  });
});

test("a model server that is down when the server starts is one line of the log", async () => {
  verifies("chat-engine.base-url.down-at-start");
  const server = await startChildServer({ env: { MODEL_BASE_URL: "http://127.0.0.1:1/v1", LOG_LEVEL: "warn" } });
  const lines = () => server.lines().filter(({ msg }) => String(msg).includes("model server"));

  await expect.poll(lines).not.toEqual([]);
  expect(lines()).toMatchObject([
    {
      msg: "Cannot reach the model server: the connection was refused. Requests fail until it responds. Its address is MODEL_BASE_URL.",
    },
  ]);
});
