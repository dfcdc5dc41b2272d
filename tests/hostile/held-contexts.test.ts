import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { conversationCalls, user } from "../conversations/call-conversations.ts";
import { heapBytes } from "../kit/heap-bytes.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { readLive } from "../runs/live-stream.ts";
import { chunk, serveModel } from "./model-server.ts";

const MEBIBYTE = 1024 * 1024;
const ITEMS = 4;
const RUNS = 8;
/** The HTTP client keeps the body of a call until the reply ends. The server must keep nothing else. */
const COPIES_MAX = 1.5;

test("a long stream holds its history in memory at most once after its model was called", async () => {
  const answers: ServerResponse[] = [];
  const server = await serveTalkative(answers);
  const calls = conversationCalls(server);
  const { id } = await calls.create();
  for (let item = 0; item < ITEMS; item++) await calls.add(id, [user("x".repeat(MEBIBYTE))]);
  const begin = async (): Promise<{ readonly whole: Promise<unknown> }> => {
    const members = { model: "m", conversation: id, input: "Hi", store: false, stream: true };
    const live = readLive(await server.post("/v1/responses", members));
    await live.id;
    return live;
  };
  const streams = [await begin()];
  const before = heapBytes();
  while (streams.length <= RUNS) streams.push(await begin());
  await expect.poll(() => heapBytes() - before).toBeLessThan(COPIES_MAX * RUNS * ITEMS * MEBIBYTE);
  for (const answer of answers) answer.end(sse(chunk("", "stop"), "[DONE]"));
  await Promise.all(streams.map(({ whole }) => whole));
});

/** A server whose model starts each answer at once and ends it when the test says so. */
async function serveTalkative(answers: ServerResponse[]): Promise<TestServer> {
  const model = await serveModel((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(chunk("Well,")));
    answers.push(response);
  });
  const server = await startTestServer({ env: { MODEL_BASE_URL: model.url } });
  onTestFinished(async () => {
    await server.close();
    await model.close();
  });
  return server;
}
