import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { memoryOf } from "../kit/processes.ts";
import { verifies } from "../verifies.ts";
import { readSnapshot, readStream } from "./event-stream.ts";
import { createCall, createHead, RawConnection } from "./raw-connection.ts";

const MODEL = "test-model";
const BODY_BYTES_MAX = 4 * 1024 * 1024;
const BARRAGES = 3;
/** Thousands of connections, possibly on a busy machine. */
const BARRAGES_TIMEOUT_MS = 180_000;
/** A heap too small for a leak to stay unnoticed. */
const FLAGS = ["--max-old-space-size=192"];
/** How far memory may grow between the first round and the last. */
const GROWTH_FACTOR_MAX = 1.5;

const SCENARIO = `
models: [${MODEL}]
fallback: planner
scenarios:
  - when: { input_contains: slow }
    events: [{ text: Once upon }, { delay_ms: 700 }, { text: " a time." }]
  - when: { input_contains: endless }
    events: [{ text: Once upon }, { delay_ms: 600000 }, { text: " a time." }]
  - when: { input_contains: long }
    events: [{ text: "${"word ".repeat(2_000)}" }, { delay_ms: 600000 }]
`;

const HELLO = { model: MODEL, input: "Say hello" };
const ENDLESS = { model: MODEL, input: "an endless story", stream: true };

describe.skipIf(process.platform !== "linux")("the process", () => {
  test("survives round after round, prints nothing on stderr, and does not grow", {
    timeout: BARRAGES_TIMEOUT_MS,
  }, async () => {
    verifies("transport.faults.no-request-ends-the-process");
    const server = await startChildServer({
      scenario: SCENARIO,
      flags: FLAGS,
      env: { BODY_BYTES_MAX: String(BODY_BYTES_MAX), DRAIN_MS: "200" },
    });
    await barrage(server);
    const { residentBytes: first } = await memoryOf(server.pid);
    for (let round = 1; round < BARRAGES; round++) await barrage(server);
    expect(readSnapshot(await (await server.post("/v1/responses", HELLO)).json()).status).toBe("completed");
    await expect
      .poll(async () => (await memoryOf(server.pid)).residentBytes, { timeout: 5_000 })
      .toBeLessThan(first * GROWTH_FACTOR_MAX);
    expect(await server.stop()).toBe(0);
    expect(server.complaints()).toBe("");
  });
});

describe("a stopping process", () => {
  async function open(drainMs: number, body: object): Promise<{ server: ChildServer; text: Promise<string> }> {
    const server = await startChildServer({ scenario: SCENARIO, env: { DRAIN_MS: String(drainMs) } });
    const reply = await server.post("/v1/responses", body);
    expect(reply.status).toBe(200); // Its head is sent with its first event.
    return { server, text: reply.text() };
  }

  test("lets an open stream end, and exits with 0", async () => {
    verifies("transport.drain.sigterm-finishes-requests");
    const { server, text } = await open(10_000, { model: MODEL, input: "a slow story", stream: true });
    const stopped = server.stop();
    expect(readStream(await text).at(-1)?.type).toBe("response.completed");
    expect(await stopped).toBe(0);
    expect(server.complaints()).toBe("");
  });

  test("ends a stream that outlasts the limit with a terminal event, and exits with 0", async () => {
    verifies("transport.drain.cut-streams-are-told");
    const { server, text } = await open(200, ENDLESS);
    const stopped = server.stop();
    const last = readStream(await text).at(-1);
    expect(last?.type).toBe("response.failed");
    expect(readSnapshot(last?.["response"]).status).toBe("cancelled");
    expect(await stopped).toBe(0);
    expect(server.complaints()).toBe("");
  });

  test("does not wait for clients that stall or do not read", async () => {
    const { server, text } = await open(200, ENDLESS);
    const stalled = await RawConnection.open(server.url);
    stalled.send(createHead(server.apiKey, { "content-length": 100 }));
    const unread = await RawConnection.open(server.url);
    unread.socket.pause();
    unread.send(createCall(server.apiKey, ENDLESS));
    expect(await server.stop()).toBe(0);
    await text;
  });
});

/** Everything that a hostile client may send, partly at once. */
async function barrage(server: ChildServer): Promise<void> {
  const bodies = hostileBodies();
  for (const [body, headers] of bodies) {
    const replies = Array.from({ length: 10 }, () =>
      exchange(server, createHead(server.apiKey, { "content-length": body.length, ...headers }), body),
    );
    for (const received of await Promise.all(replies)) expect(received).toMatch(/^(?:HTTP\/1\.1 [24]\d\d |$)/);
  }
  for (const bytes of [
    "\0".repeat(1000),
    "GET / HTTP/9\r\n\r\n",
    `GET / HTTP/1.1\r\nx: ${"y".repeat(50_000)}\r\n\r\n`,
    "\u0016\u0003\u0001",
  ]) {
    await Promise.all(Array.from({ length: 25 }, () => exchange(server, bytes, Buffer.alloc(0))));
  }
  await connectAndLeave(server, 150, createCall(server.apiKey, ENDLESS), true);
  await connectAndLeave(
    server,
    100,
    createCall(server.apiKey, { model: MODEL, input: "a long story", stream: true }),
    false,
  );
  await connectAndLeave(server, 100, createCall(server.apiKey, ENDLESS).slice(0, -5), false);
}

function hostileBodies(): readonly (readonly [body: Buffer, headers: Readonly<Record<string, string>>])[] {
  const say = (members: object): Buffer => Buffer.from(JSON.stringify({ ...HELLO, ...members }));
  const bomb = Buffer.alloc(10 * BODY_BYTES_MAX, " ");
  return [
    [Buffer.from(""), {}],
    [Buffer.from('{"model"'), {}],
    [Buffer.from([0xff, 0xfe, 0]), {}],
    [Buffer.from("[".repeat(10_000)), {}],
    [say({ input: Array.from({ length: 5_000 }, () => ({ role: "user", content: "x" })) }), {}],
    [say({ input: "x".repeat(1_000_000) }), {}],
    [say({ zzz: 1 }), {}],
    [Buffer.alloc(BODY_BYTES_MAX + 1, " "), {}],
    [gzipSync(bomb), { "content-encoding": "gzip" }],
    [zstdCompressSync(bomb), { "content-encoding": "zstd" }],
    [say({}), { "content-encoding": "zzz" }],
    [say({}), { "content-type": "text/plain" }],
    [say({}), { authorization: "Bearer nobody" }],
  ];
}

/** Sends one request and half-closes; returns the reply, or nothing if the connection was cut. */
async function exchange(server: ChildServer, head: string, body: Buffer): Promise<string> {
  const connection = await RawConnection.open(server.url);
  connection.send(head);
  connection.send(body);
  connection.socket.end();
  return connection.untilClosed();
}

/** Many clients at once that leave after the first bytes of an answer, or before. */
async function connectAndLeave(server: ChildServer, clients: number, bytes: string, answered: boolean): Promise<void> {
  const connections = await Promise.all(Array.from({ length: clients }, () => RawConnection.open(server.url)));
  for (const connection of connections) connection.send(bytes);
  if (answered)
    await Promise.all(
      connections.map((connection) => connection.until((received) => received.includes("response.created"))),
    );
  for (const connection of connections) connection.leave();
}
