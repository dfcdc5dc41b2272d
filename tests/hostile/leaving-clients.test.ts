import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { readSnapshot, readStream, responseIdOf } from "./event-stream.ts";
import { chunk, type ModelServer, serveModel } from "./model-server.ts";
import { chunkedBodyOf, createCall, createHead, RawConnection } from "./raw-connection.ts";

const MODEL = "m";
const TOOL = { type: "function", name: "f", parameters: null, strict: false };
const STREAM = { model: MODEL, input: "Say hello", tools: [TOOL], stream: true };
const PLAIN = { ...STREAM, stream: false };

/** Every kind of output of a foreground turn, without an end. */
const UNFINISHED = [
  delta({ reasoning_content: "I think, " }),
  delta({ reasoning_content: "therefore." }),
  chunk("Hello"),
  chunk(", world"),
  delta({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "f", arguments: '{"a":' } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '"LAST"' } }] }),
];

const MODEL_ABORT_MS_MAX = 1_000;

describe("a client that leaves", () => {
  let server: TestServer;
  let model: ModelServer;
  /** Whether the model server sends its whole answer or leaves out the end. */
  let finishes = false;
  let events = 0;
  const calls = new Set<ServerResponse>();

  beforeAll(async () => {
    model = await serveModel((_request, response) => {
      calls.add(response);
      response.once("close", () => calls.delete(response));
      answer(response, finishes);
    });
    server = await startTestServer({ env: { MODEL_BASE_URL: model.url } });
    const connection = await open(STREAM);
    events = eventsIn(await connection.until((text) => text.includes("LAST")));
    connection.leave();
  });
  afterAll(async () => {
    await server.close();
    await model.close();
  });

  async function open(body: object, options: { readonly allowHalfOpen?: boolean } = {}): Promise<RawConnection> {
    const connection = await RawConnection.open(server.url, options);
    connection.send(createCall(server.apiKey, body));
    return connection;
  }

  /** The model server has no open calls. */
  async function quiet(): Promise<void> {
    await expect.poll(() => calls.size, { timeout: MODEL_ABORT_MS_MAX, interval: 5 }).toBe(0);
  }

  const statusOf = async (id: string): Promise<string> =>
    readSnapshot(await (await server.fetch(`/v1/responses/${id}`)).json()).status;

  /** Leaves after `count` events; returns the id of the response, which only `response.created` shows. */
  async function leaveAfter(count: number, leave: (connection: RawConnection) => void): Promise<string | null> {
    const connection = await open(STREAM);
    const text = await connection.until((received) => eventsIn(received) >= count);
    leave(connection);
    return count === 0 ? null : responseIdOf(chunkedBodyOf(text));
  }

  test("sees events of many kinds", () => expect(events).toBeGreaterThan(12));

  test.each([
    ["closes", (connection: RawConnection) => connection.leave()],
    ["resets", (connection: RawConnection) => connection.socket.resetAndDestroy()],
  ] as const)(
    "after any event ends its run as cancelled and the call of the model with it, when it %s",
    async (_how, leave) => {
      verifies("chat-engine.abort.client-leaves");
      finishes = false;
      for (let count = 0; count <= events; count++) {
        const id = await leaveAfter(count, leave);
        await quiet();
        if (id === null) continue;
        await expect.poll(() => statusOf(id), { interval: 5, message: `after ${count} events` }).toBe("cancelled");
        const snapshot = readSnapshot(await (await server.fetch(`/v1/responses/${id}`)).json());
        for (const item of snapshot.output)
          expect(item.status ?? "completed", JSON.stringify(item)).not.toBe("in_progress");
      }
    },
  );

  test("after any event of a complete turn leaves a response with a final status", async () => {
    finishes = true;
    for (let count = 1; count <= events + 3; count++) {
      const id = await leaveAfter(count, (connection) => connection.leave());
      await expect.poll(() => statusOf(id ?? ""), { interval: 5 }).toMatch(/^(?:completed|cancelled)$/);
    }
    finishes = false;
    await quiet();
  });

  test("before its plain answer is ready ends the call of the model", async () => {
    verifies("chat-engine.abort.client-leaves");
    const connections = await Promise.all(Array.from({ length: 10 }, () => open(PLAIN)));
    await expect.poll(() => calls.size, { interval: 5 }).toBe(connections.length);
    for (const connection of connections) connection.leave();
    await quiet();
  });

  test("with store false ends the call of the model too", async () => {
    const connection = await open({ ...STREAM, store: false });
    await connection.until((text) => text.includes("LAST"));
    connection.leave();
    await quiet();
  });

  test("in the middle of its body starts no run", async () => {
    verifies("transport.faults.no-request-ends-the-process");
    const call = createCall(server.apiKey, STREAM);
    for (let length = 0; length < call.length; length += 7) {
      const connection = await RawConnection.open(server.url);
      connection.send(call.slice(0, length));
      if (length % 2 === 0) connection.leave();
      else connection.socket.resetAndDestroy();
    }
    const chunked = await RawConnection.open(server.url);
    chunked.send(`${createHead(server.apiKey, { "transfer-encoding": "chunked" })}5\r\n{"mod`);
    chunked.leave();
    expect(calls.size).toBe(0);
    expect((await server.fetch("/healthz")).status).toBe(200);
  });

  test("or stalls while sending delays no other client", async () => {
    const call = createCall(server.apiKey, STREAM);
    const stalled = await Promise.all(Array.from({ length: 200 }, () => RawConnection.open(server.url)));
    for (const [index, connection] of stalled.entries())
      connection.send(call.slice(0, Math.floor((call.length * index) / stalled.length)));
    finishes = true;
    const askedAt = performance.now();
    expect((await server.post("/v1/responses", PLAIN)).status).toBe(200);
    expect(performance.now() - askedAt).toBeLessThan(2_000);
    finishes = false;
    for (const connection of stalled) connection.leave();
  });

  test("with half of its connection after its request is answered or disconnected", async () => {
    finishes = true;
    for (const body of [PLAIN, STREAM]) {
      const connection = await open(body, { allowHalfOpen: true });
      connection.socket.end();
      const received = await connection.untilClosed();
      if (received !== "") expect(received).toMatch(/^HTTP\/1\.1 200 /);
      if (received !== "" && body.stream)
        expect(readStream(chunkedBodyOf(received)).at(-1)?.type).toBe("response.completed");
    }
    finishes = false;
    await quiet();
  });

  test("and returns a thousand times finds the server unchanged", async () => {
    for (let round = 0; round < 20; round++) {
      const connections = await Promise.all(
        Array.from({ length: 50 }, () => open({ ...STREAM, store: round % 2 === 0 })),
      );
      const last = connections.at(-1);
      if (round % 4 === 0 && last !== undefined) await once(last.socket, "data");
      for (const connection of connections) connection.leave();
    }
    await expect.poll(() => calls.size, { timeout: 5_000 }).toBe(0);
    finishes = true;
    expect((await server.post("/v1/responses", PLAIN)).status).toBe(200);
    finishes = false;
  });
});

function answer(response: ServerResponse, finishes: boolean): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const part of UNFINISHED) response.write(sse(part));
  if (finishes)
    response.end(sse(delta({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }), chunk("", "stop"), "[DONE]"));
}

function delta(members: object): object {
  return { id: "chatcmpl-1", model: MODEL, choices: [{ index: 0, delta: members, finish_reason: null }] };
}

function eventsIn(received: string): number {
  return received.split("\ndata: ").length - 1;
}
