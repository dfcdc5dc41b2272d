import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { errorOf } from "./catalogue-error.ts";
import { readSnapshot, readStream } from "./event-stream.ts";
import { type Deed, flood, framed, STREAM_HEAD } from "./model-deaths.ts";
import { chunk, type ModelServer, serveBytes } from "./model-server.ts";

const IDLE_MS = 400;
const TOTAL_MS = 2_000;
const DRIP_MS = 100;
/** Timers of connections are coarse; beyond this the limit counts as broken. */
const OVER_AFTER_MS = TOTAL_MS + 3_000;

const JSON_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";

/**
 * Endless ways not to answer, and the status of each. A flood ends by the size limit or, on a slow machine, by the time
 * limit.
 */
const REFUSALS: Readonly<Record<string, readonly [statuses: readonly number[], deed: Deed]>> = {
  "never answers": [[504], () => {}],
  "never ends its status": [[504], (socket) => drip(socket, "HTTP/1.1 200 ", () => "O")],
  "never ends its headers": [[504], (socket) => drip(socket, "HTTP/1.1 200 OK\r\n", () => "x: y\r\n")],
  "asks to go on for ever": [[502], (socket) => drip(socket, "", () => "HTTP/1.1 100 Continue\r\n\r\n")],
  "never begins its JSON": [[504], (socket) => void socket.write(JSON_HEAD)],
  "never ends its JSON": [[504], (socket) => drip(socket, JSON_HEAD, () => framed('["x",'))],
  "floods with JSON": [[502, 504], (socket) => void flood(socket, `${JSON_HEAD}ffffffff\r\n{"a":"`, "x")],
  "floods with white space": [[504], (socket) => void flood(socket, `${JSON_HEAD}ffffffffff\r\n`, " ")],
  "never ends its error": [
    [500],
    (socket) => drip(socket, "HTTP/1.1 500 No\r\ncontent-length: 9999\r\n\r\n", () => "x"),
  ],
};

/** Streams that start and never end. */
const BREAKS: Readonly<Record<string, Deed>> = {
  "says nothing after its headers": (socket) => void socket.write(STREAM_HEAD),
  "says nothing after some text": (socket) => void socket.write(STREAM_HEAD + framed(sse(chunk("Hello")))),
  "says nothing within an event": (socket) => void socket.write(STREAM_HEAD + framed('data: {"choi')),
  "only says that it lives": (socket) => drip(socket, STREAM_HEAD, () => framed(": ping\n\n")),
  "drips a line": (socket) => drip(socket, `${STREAM_HEAD}${framed("data: ")}`, () => framed("x")),
  "drips empty events": (socket) => drip(socket, STREAM_HEAD, () => framed(sse(chunk("")))),
  "floods with a line": (socket) => void flood(socket, `${STREAM_HEAD}ffffffff\r\ndata: `, "x"),
  "floods with lines of one event": (socket) => void flood(socket, `${STREAM_HEAD}ffffffff\r\n`, "data: x\n"),
  "floods with names": (socket) => void flood(socket, `${STREAM_HEAD}ffffffff\r\n`, "id: x\nretry: 1\nz"),
};

describe("an endless model server", () => {
  verifies("chat-engine.timeout.connect-and-first-byte", "chat-engine.timeout.stalled-stream");
  verifies("responses.stream.one-terminal-event-last");
  let server: TestServer;
  let model: ModelServer;

  beforeAll(async () => {
    model = await serveBytes((socket, call) => {
      const name = /"model":"([^"]*)"/.exec(call)?.[1] ?? "";
      (REFUSALS[name]?.[1] ?? BREAKS[name])?.(socket);
    });
    const limits = { MODEL_IDLE_TIMEOUT_MS: String(IDLE_MS), MODEL_TOTAL_TIMEOUT_MS: String(TOTAL_MS) };
    server = await startTestServer({ env: { MODEL_BASE_URL: model.url, ...limits } });
  });
  afterAll(async () => {
    await server.close();
    await model.close();
  });

  const create = (name: string, stream: boolean): Promise<Response> =>
    server.post("/v1/responses", { model: name, input: "Say hello", stream });

  test.concurrent.each(Object.entries(REFUSALS))(
    "that %s fails before the client gives up",
    async (name, [statuses]) => {
      const askedAt = performance.now();
      await Promise.all(
        [true, false].map(async (stream) => {
          const error = await errorOf(await create(name, stream));
          expect(error.code).toBe("server_error");
          expect(statuses).toContain(error.status);
        }),
      );
      expect(performance.now() - askedAt).toBeLessThan(OVER_AFTER_MS);
    },
  );

  test.concurrent.each(Object.entries(BREAKS))("that %s ends the response as failed", async (name) => {
    const askedAt = performance.now();
    const [streamed, plain] = await Promise.all([
      create(name, true).then((reply) => reply.text()),
      create(name, false).then((reply) => reply.json()),
    ]);
    expect(performance.now() - askedAt).toBeLessThan(OVER_AFTER_MS);
    const events = readStream(streamed);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    for (const snapshot of [readSnapshot(events.at(-1)?.["response"]), readSnapshot(plain)]) {
      expect(snapshot).toMatchObject({ status: "failed", error: { code: "server_error" } });
      expect(readSnapshot(await (await server.fetch(`/v1/responses/${snapshot.id}`)).json()).status).toBe("failed");
    }
  });

  test("is disconnected", async () => {
    await expect.poll(() => model.connections.size, { timeout: OVER_AFTER_MS }).toBe(0);
  });
});

/** Writes a piece often enough to stay below the idle timeout. */
function drip(socket: Socket, before: string, piece: () => string): void {
  socket.write(before);
  const timer = setInterval(() => socket.write(piece()), DRIP_MS);
  socket.once("close", () => clearInterval(timer));
}
