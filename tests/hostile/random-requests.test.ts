import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { errorOf } from "./catalogue-error.ts";
import { readStream } from "./event-stream.ts";
import { chunk, type ModelServer, serveModel } from "./model-server.ts";
import { createBodies, topLevelMembers } from "./schema-arbitrary.ts";

const RUNS = 100;
const NOT_IMPLEMENTED = 501;

/** Members that the server acts on, so that requests are not all refused early. */
const ACTED_ON = [
  "include",
  "instructions",
  "max_output_tokens",
  "metadata",
  "parallel_tool_calls",
  "reasoning",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "text",
  "tool_choice",
  "tools",
  "top_logprobs",
  "top_p",
];

const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  "any member": topLevelMembers(),
  "members that are acted on": ACTED_ON,
  "formats of the answer": ["text", "stream"],
  "tools and choices of them": ["tools", "tool_choice", "stream"],
};

describe("a random request that is valid by the schema", () => {
  let builtIn: TestServer;
  let chat: TestServer;
  let model: ModelServer;
  beforeAll(async () => {
    model = await serveModel((_request, response) =>
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(sse(chunk("Hello"), chunk("", "stop"), "[DONE]")),
    );
    builtIn = await startTestServer();
    chat = await startTestServer({ env: { MODEL_BASE_URL: model.url } });
  });
  afterAll(async () => {
    await Promise.all([builtIn.close(), chat.close()]);
    await model.close();
  });

  test.each(Object.keys(FAMILIES))("is answered or refused by the built-in engine: %s", async (family) => {
    verifies("transport.faults.no-request-ends-the-process");
    await fc.assert(
      fc.asyncProperty(createBodies("antiphon-built-in", FAMILIES[family] ?? []), (body) => check(builtIn, body)),
      { numRuns: RUNS },
    );
  });

  test.each(Object.keys(FAMILIES))("is answered or refused in front of a model server: %s", async (family) => {
    verifies("transport.faults.no-request-ends-the-process");
    await fc.assert(
      fc.asyncProperty(createBodies("m", FAMILIES[family] ?? []), (body) => check(chat, body)),
      { numRuns: RUNS },
    );
  });
});

async function check(server: TestServer, body: Readonly<Record<string, unknown>>): Promise<void> {
  const reply = await server.post("/v1/responses", body);
  if (reply.status !== 200) {
    const error = await errorOf(reply);
    if (error.status !== NOT_IMPLEMENTED) expect(error.status, JSON.stringify(error)).toBeLessThan(500);
    return;
  }
  const text = await reply.text();
  if (body["stream"] === true)
    expect(readStream(text).at(-1)?.type, text).toMatch(/^response\.(?:completed|incomplete|failed)$/);
  else expect(JSON.parse(text).status, text).toMatch(/^(?:queued|completed|incomplete|failed)$/);
}
