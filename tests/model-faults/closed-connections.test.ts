import { createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

const ANSWER = sse(textChunk("Hello"), lastChunk("stop"), "[DONE]");
const REPLY = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${ANSWER.length}\r\n\r\n${ANSWER}`;
const HEAD_END = "\r\n\r\n";
/** Larger than what is sent as one piece. */
const LONG_INPUT = "The tide comes in, the tide goes out. ".repeat(20_000);

/** What becomes of a call: `nth` counts the calls of its connection from 0. */
type Script = (socket: Socket, nth: number, connection: number) => unknown;

/** A model server below HTTP, and our server in front of it. Returns what it was asked: the connection of each call. */
async function serveAbove(script: Script) {
  const calls: number[] = [];
  let connections = 0;
  const upstream = createServer((socket) => {
    const connection = connections;
    connections += 1;
    let nth = 0;
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      for (let end = endOfCall(text); end !== -1; end = endOfCall(text)) {
        text = text.slice(end);
        calls.push(connection);
        script(socket, nth, connection);
        nth += 1;
      }
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void upstream.close());
  const address = upstream.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const server = await startTestServer({ env: { MODEL_BASE_URL: `http://127.0.0.1:${address.port}/v1` } });
  const ask = async (input = "Hi") => {
    const reply = await server.post("/v1/responses", { model: "m", input });
    await reply.text();
    await new Promise(setImmediate); // The connection is free a moment after the answer.
    return reply.status;
  };
  return { ask, calls };
}

/** Where the first call in this text ends; −1 if it is not whole. */
function endOfCall(text: string): number {
  const head = text.indexOf(HEAD_END);
  if (head === -1) return -1;
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  const end = head + HEAD_END.length + length;
  return text.length < end ? -1 : end;
}

const answers = (socket: Socket): unknown => socket.write(REPLY);

test.each([
  ["closes", (socket: Socket) => socket.end()],
  ["resets", (socket: Socket) => socket.resetAndDestroy()],
])("a call on a reused connection that the model server %s is sent again on a new one", async (_how, leave) => {
  verifies("chat-engine.connections.closed-by-server");
  const { ask, calls } = await serveAbove((socket, nth) => (nth === 0 ? answers(socket) : leave(socket)));

  expect([await ask(), await ask(), calls]).toEqual([200, 200, [0, 0, 1]]);
  expect([await ask(), await ask(LONG_INPUT), calls]).toEqual([200, 200, [0, 0, 1, 2, 2, 3]]);
});

test("no call fails on connections that the model server resets a moment after each answer", async () => {
  verifies("chat-engine.connections.closed-by-server");
  const latest = new Map<Socket, number>();
  const { ask, calls } = await serveAbove((socket, nth) => {
    latest.set(socket, nth);
    answers(socket);
    // Not before the client has read the answer, and not while it waits for a later one.
    setTimeout(() => setImmediate(() => latest.get(socket) === nth && socket.resetAndDestroy()), 2);
  });

  const statuses = await Promise.all(Array.from({ length: 4 }, () => askOften(ask, 50)));
  expect(new Set(statuses.flat())).toEqual(new Set([200]));
  expect(calls.length).toBe(200);
});

test("a call that the model server has had for longer than a close travels is not sent again", async () => {
  verifies("chat-engine.connections.closed-by-server");
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { ask, calls } = await serveAbove((socket, nth) => {
    if (nth === 0) return answers(socket);
    vi.advanceTimersByTime(2_001);
    return socket.end();
  });

  expect([await ask(), await ask(), calls]).toEqual([200, 502, [0, 0]]);
});

async function askOften(ask: () => Promise<number>, times: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < times; time++) statuses.push(await ask());
  return statuses;
}

test("a call is not sent again if its connection is new, if a byte of its answer came, or twice", async () => {
  verifies("chat-engine.connections.closed-by-server");
  const fresh = await serveAbove((socket) => socket.resetAndDestroy());
  expect([await fresh.ask(), fresh.calls]).toEqual([502, [0]]);

  const begun = await serveAbove((socket, nth) => {
    if (nth === 0) return answers(socket);
    return socket.end("HTTP/1.1 200 OK\r\n");
  });
  expect([await begun.ask(), await begun.ask(), begun.calls]).toEqual([200, 502, [0, 0]]);

  const gone = await serveAbove((socket, nth, connection) =>
    nth === 0 && connection === 0 ? answers(socket) : socket.resetAndDestroy(),
  );
  expect([await gone.ask(), await gone.ask(), gone.calls]).toEqual([200, 502, [0, 0, 1]]);
});
