import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { heapBytes } from "../kit/heap-bytes.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { readSnapshot, responseIdOf } from "./event-stream.ts";
import { flood } from "./model-deaths.ts";
import { chunk, type ModelServer, serveBytes } from "./model-server.ts";
import { chunkedBodyOf, createCall, RawConnection } from "./raw-connection.ts";

const MEBIBYTE = 1024 * 1024;
const CLIENTS = 8;

/**
 * The most that one endless answer may bring into the process and its socket buffers before the model server has to
 * wait.
 */
const TAKEN_BYTES_MAX = 24 * MEBIBYTE;
const HEAP_BYTES_MAX = 16 * MEBIBYTE;
/** How far the heap may stay above its start. */
const LEFT_BYTES_MAX = 40 * MEBIBYTE;

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const PIECE = sse(chunk("x".repeat(1000)));
const LONG_PIECES = 2_000;
const SETTLE_MS = 150;

describe("a stream that nobody reads", () => {
  let server: TestServer;
  let model: ModelServer;
  const floods: { bytes(): number }[] = [];

  beforeAll(async () => {
    model = await serveBytes((socket, call) => {
      if (call.includes('"model":"endless"')) floods.push(flood(socket, HEAD, PIECE));
      else if (call.includes('"model":"long"'))
        socket.end(`${HEAD}${PIECE.repeat(LONG_PIECES)}${sse(chunk("", "stop"), "[DONE]")}`);
      else socket.end(HEAD + sse(chunk("Hello"), chunk("", "stop"), "[DONE]"));
    });
    server = await startTestServer({ env: { MODEL_BASE_URL: model.url } });
    await (await server.post("/v1/responses", { model: "short", input: "Warm up" })).text();
  });
  afterAll(async () => {
    await server.close();
    await model.close();
  });

  /** Opens a stream, reads its first bytes, and reads no more. */
  async function openUnread(body: object): Promise<RawConnection> {
    const connection = await RawConnection.open(server.url);
    connection.send(createCall(server.apiKey, { input: "Go on", stream: true, ...body }));
    await once(connection.socket, "data");
    connection.socket.pause();
    return connection;
  }

  test("makes its model wait, delays no others, and leaves no memory behind", async () => {
    verifies("transport.sse.back-pressure", "chat-engine.abort.client-leaves");
    const before = heapBytes();
    const unread = await Promise.all(
      Array.from({ length: CLIENTS }, () => openUnread({ model: "endless", store: false })),
    );
    await settled(() => floods.reduce((sum, each) => sum + each.bytes(), 0));
    for (const each of floods) expect(each.bytes()).toBeLessThan(TAKEN_BYTES_MAX);
    expect(heapBytes() - before).toBeLessThan(CLIENTS * HEAP_BYTES_MAX);
    expect((await server.post("/v1/responses", { model: "short", input: "Hi" })).status).toBe(200);
    for (const connection of unread) connection.leave();
    await expect.poll(() => model.connections.size, { interval: 10 }).toBe(0);
    await expect.poll(() => heapBytes() - before, { interval: 100, timeout: 5_000 }).toBeLessThan(LEFT_BYTES_MAX);
  });

  test("is still stored to its end, and leaves no memory behind", async () => {
    const before = heapBytes();
    const unread = await Promise.all(Array.from({ length: CLIENTS }, () => openUnread({ model: "long" })));
    const ids = unread.map((connection) => responseIdOf(chunkedBodyOf(connection.received)));
    for (const id of ids) {
      const status = async (): Promise<string> =>
        readSnapshot(await (await server.fetch(`/v1/responses/${id}`)).json()).status;
      await expect.poll(status, { timeout: 50_000 }).toBe("completed");
    }
    for (const connection of unread) connection.leave();
    await expect.poll(() => heapBytes() - before, { interval: 100, timeout: 5_000 }).toBeLessThan(LEFT_BYTES_MAX);
  });

  test("can be read later, complete and in order", async () => {
    const connection = await openUnread({ model: "long" });
    const [id] = [responseIdOf(chunkedBodyOf(connection.received))];
    const status = async (): Promise<string> =>
      readSnapshot(await (await server.fetch(`/v1/responses/${id}`)).json()).status;
    await expect.poll(status, { timeout: 10_000 }).toBe("completed");
    connection.socket.resume();
    const received = await connection.until((text) => text.endsWith("0\r\n\r\n"));
    const numbers = [...received.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(received.split('"type":"response.completed"').length).toBe(2);
    expect(numbers.length).toBeGreaterThan(LONG_PIECES);
    connection.leave();
  });
});

/** Resolves when a count has stopped growing. */
async function settled(count: () => number): Promise<void> {
  for (let last = -1; last !== count(); await delay(SETTLE_MS)) last = count();
}
