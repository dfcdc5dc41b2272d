import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { type CatalogueError, errorOf } from "./catalogue-error.ts";
import { type ResponseSnapshot, readSnapshot, readStream } from "./event-stream.ts";
import { BREAKS, type Deed, ENDINGS, REFUSALS } from "./model-deaths.ts";
import { deadUrl, type ModelServer, serveBytes } from "./model-server.ts";

const API_KEY = "sk-the-operators-own-key-0123456789";
const CREATE = {
  model: "m",
  input: "Say hello",
  tools: [{ type: "function", name: "f", parameters: null, strict: false }],
};

describe("a model server", () => {
  let server: TestServer;
  let model: ModelServer;
  let deed: Deed = (socket) => socket.end();

  beforeAll(async () => {
    model = await serveBytes((socket) => deed(socket));
    const env = { MODEL_BASE_URL: model.url, MODEL_API_KEY: API_KEY, ANSWER_TEXT_CHARACTERS_MAX: "5242880" };
    server = await startTestServer({ env });
  });
  afterAll(async () => {
    await server.close();
    await model.close();
  });

  test.each(Object.entries(REFUSALS))("that %s makes the create fail with its status", async (_name, refused) => {
    verifies(
      "chat-engine.errors.status-before-first-byte",
      "chat-engine.errors.secrets-not-passed-on",
      "errors.stage.before-generation-is-plain-http",
    );
    deed = refused.deed;
    for (const streamed of [false, true]) {
      const reply = await server.post("/v1/responses", { ...CREATE, stream: streamed });
      const retryAfter = reply.headers.get("retry-after");
      const error = await errorOf(reply);
      expect(error).toMatchObject({ status: refused.status, code: refused.code });
      if (refused.retryAfter !== undefined) expect(retryAfter).toBe(refused.retryAfter);
      expectNoSecrets(error.message);
    }
  });

  test.each(Object.entries(BREAKS))("that %s ends the response as failed, once", async (_name, breaks) => {
    verifies(
      "chat-engine.errors.failed-event-after",
      "chat-engine.finish.missing-is-a-failure",
      "errors.stage.after-creation-is-200-failed",
    );
    verifies("responses.stream.one-terminal-event-last", "responses.stream.error-event-is-nested");
    deed = breaks;
    const streamed = await stream();
    expect(streamed.types.slice(-2)).toEqual(["error", "response.failed"]);
    expect(streamed.error).toMatchObject({ type: "server_error", code: "server_error", param: null });
    expectNoSecrets(streamed.error?.message ?? "");
    const reply = await server.post("/v1/responses", CREATE);
    expect(reply.status).toBe(200);
    const plain = readSnapshot(await reply.json());
    for (const snapshot of [streamed.last, plain]) await expectFailed(snapshot);
  });

  test.each(Object.entries(ENDINGS))("that %s still completes the response", async (_name, ends) => {
    verifies("chat-engine.finish.stop-completes");
    deed = ends;
    const streamed = await stream();
    expect(streamed.types.at(-1)).toBe("response.completed");
    const plain = readSnapshot(await (await server.post("/v1/responses", CREATE)).json());
    for (const snapshot of [streamed.last, plain])
      expect(await stored(snapshot.id)).toMatchObject({ status: "completed", error: null });
  });

  test("that closes every connection makes the create fail with 502", async () => {
    const rude = await serveBytes(
      () => {},
      (socket) => socket.end(),
    );
    for (const url of [rude.url, await deadUrl()]) {
      const behind = await startTestServer({ env: { MODEL_BASE_URL: url } });
      expect(await errorOf(await behind.post("/v1/responses", CREATE))).toMatchObject({
        status: 502,
        code: "server_error",
      });
      expect(await errorOf(await behind.post("/v1/responses", { ...CREATE, stream: true }))).toMatchObject({
        status: 502,
      });
      expect(await errorOf(await behind.fetch("/v1/models"))).toMatchObject({ status: 502, code: "server_error" });
      await behind.close();
    }
    await rude.close();
  });

  test("that refuses our key is not reported as the client's fault", async () => {
    verifies("chat-engine.errors.secrets-not-passed-on");
    deed = (socket) =>
      socket.end(
        `HTTP/1.1 401 No\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"error":{"message":"Incorrect API key: ${API_KEY}"}}`,
      );
    const error = await errorOf(await server.post("/v1/responses", CREATE));
    expect(error).toMatchObject({ status: 502, code: "model_authentication_failed" });
    expect(error.message).toContain("your API key is not the cause");
    expectNoSecrets(error.message);
  });

  test("that has died in every way can come back", async () => {
    verifies("transport.faults.no-request-ends-the-process");
    for (const { deed: refusal } of Object.values(REFUSALS)) {
      deed = refusal;
      await (await server.post("/v1/responses", CREATE)).text();
    }
    deed = ENDINGS["closes after [DONE]"] ?? deed;
    expect(readSnapshot(await (await server.post("/v1/responses", CREATE)).json()).status).toBe("completed");
  });

  async function stream(): Promise<{
    types: readonly string[];
    error: CatalogueError | undefined;
    last: ResponseSnapshot;
  }> {
    const reply = await server.post("/v1/responses", { ...CREATE, stream: true });
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    const events = readStream(text);
    const failure: unknown = events.find(({ type }) => type === "error")?.["error"];
    return {
      types: events.map(({ type }) => type),
      error: failure === undefined ? undefined : JSON.parse(JSON.stringify(failure)),
      last: readSnapshot(events.at(-1)?.["response"]),
    };
  }

  async function expectFailed(snapshot: ResponseSnapshot): Promise<void> {
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "server_error" } });
    for (const item of snapshot.output) expect(item.status ?? "completed").not.toBe("in_progress");
    const { billing: _first, ...shown } = snapshot;
    const { billing: _second, ...kept } = await stored(snapshot.id);
    expect(kept).toEqual(shown);
  }

  async function stored(id: string): Promise<ResponseSnapshot> {
    const reply = await server.fetch(`/v1/responses/${id}`);
    expect(reply.status).toBe(200);
    return readSnapshot(await reply.json());
  }

  function expectNoSecrets(message: string): void {
    expect(message).not.toContain(API_KEY);
    expect(message).not.toMatch(/https?:|127\.0\.0\.1/);
    expect(message).not.toMatch(/Traceback|\/srv\/|<html|<h1|chat\/completions$/);
  }
});
