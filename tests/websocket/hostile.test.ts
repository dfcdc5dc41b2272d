import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { MODEL, openSocket, type TestSocket } from "./socket.ts";

const MEBIBYTE = 1024 * 1024;
const SETTLING_MS = 500;

async function serve(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return await startTestServer({ env });
}

async function checkAlive(server: TestServer): Promise<void> {
  const socket = await openSocket(server);
  expect((await socket.create()).response.status).toBe("completed");
}

describe("an unreadable frame closes its socket, and the server keeps serving:", () => {
  test("a binary one, after an error", async () => {
    verifies("websocket.responses.unreadable-frames-close");
    const server = await serve();
    const socket = await openSocket(server);
    socket.send(Buffer.from('{"type":"response.create"}'));
    expect((await socket.turn()).refusal).toMatchObject({
      status: 415,
      error: { type: "invalid_request_error", message: expect.stringContaining("binary") },
    });
    expect(await socket.closed).toBe(1003);
    await checkAlive(server);
  });

  test("one that is larger than a body may be", async () => {
    verifies("websocket.responses.unreadable-frames-close");
    const server = await serve({ BODY_BYTES_MAX: String(MEBIBYTE) });
    const socket = await openSocket(server);
    socket.ask({ input: "x".repeat(2 * MEBIBYTE) });
    expect((await socket.turn()).refusal).toMatchObject({
      status: 413,
      error: { code: "request_too_large", message: `The message is larger than ${MEBIBYTE} bytes.` },
    });
    expect(await socket.closed).toBe(1009);
    await checkAlive(server);
  });

  test("text that is not UTF-8", async () => {
    verifies("websocket.responses.unreadable-frames-close");
    const server = await serve();
    const socket = await openSocket(server);
    socket.socket.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false });
    expect(await socket.closed).toBe(1007);
    await checkAlive(server);
  });
});

describe("a readable frame", () => {
  test("may be as large as a body", async () => {
    const server = await serve();
    const socket = await openSocket(server);
    const image_url = `data:image/png;base64,${"A".repeat(20 * MEBIBYTE)}`;
    const turn = await socket.create({ input: [{ role: "user", content: [{ type: "input_image", image_url }] }] });
    expect(turn.types.length).toBeGreaterThan(0);
    expect((await socket.create()).response.status).toBe("completed");
  });

  test.each([
    ["deep", "[".repeat(100_000) + "]".repeat(100_000)],
    ["deep in a member", `{"type":"response.create","model":"m","input":${"[".repeat(5000)}${"]".repeat(5000)}}`],
    ["of many values", `[${"0,".repeat(6_000_000)}0]`],
  ])("and is %s is refused, and the socket stays open", async (_what, frame) => {
    const socket = await openSocket(await serve());
    socket.send(frame);
    expect((await socket.turn()).refusal).toMatchObject({ status: 400, error: { code: "invalid_json" } });
    expect((await socket.create()).response.status).toBe("completed");
  });

  test("in fragments is one frame", async () => {
    const socket = await openSocket(await serve());
    socket.socket.send('{"type":"response.create",', { fin: false });
    socket.socket.send(`"model":"${MODEL}",`, { fin: false });
    socket.socket.send('"input":"Say hello"}', { fin: true });
    expect((await socket.turn()).response.status).toBe("completed");
  });
});

describe("a client that leaves", () => {
  test.each([
    ["breaks its connection", (socket: TestSocket) => socket.leave()],
    ["closes its socket", (socket: TestSocket) => socket.socket.close()],
  ])("and %s ends the model's call, and a stored response as cancelled", async (_how, leave) => {
    verifies("websocket.responses.leaving-cancels");
    const { server, upstream } = await serveBehind((response, { path }) => {
      if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.write(sse(textChunk("So far")));
    });
    const socket = await openSocket(server);
    for (const stream_id of ["a", "b"]) socket.ask({ model: "m", stream_id });
    socket.ask({ model: "m", stream_id: "a" });
    const ids: string[] = [];
    for (const lane of ["a", "b"]) {
      const created = await socket.until("response.created", lane);
      if ("response" in created) ids.push(created.response.id);
      await socket.until("response.output_text.delta", lane);
    }
    leave(socket);
    const calls = upstream.calls.filter(({ path }) => path.endsWith("/chat/completions"));
    expect(calls.length).toBe(2);
    await Promise.all(calls.map(({ closed }) => closed));
    for (const id of ids) {
      const read = async (): Promise<unknown> => (await server.fetch(`/v1/responses/${id}`)).json();
      await expect.poll(read, { timeout: 2000 }).toMatchObject({ status: "cancelled" });
    }
    expect(upstream.calls.filter(({ path }) => path.endsWith("/chat/completions")).length).toBe(2);
  });
});

test("queued frames take no more memory than a few of them may, and each is answered in the end", async () => {
  verifies("websocket.responses.waiting-frames-bounded");
  const answering = Promise.withResolvers<void>();
  const { server } = await serveBehind(async (response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    await answering.promise;
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.end(sse(textChunk("At last"), lastChunk("stop"), "[DONE]"));
  });
  const socket = await openSocket(server);
  socket.ask({ model: "m" });
  const frames = 40;
  for (let frame = 0; frame < frames; frame++)
    socket.ask({ input: "x".repeat(4 * MEBIBYTE), previous_response_id: "resp_x" });
  await settled(() => socket.socket.bufferedAmount);
  expect(socket.socket.bufferedAmount).toBeGreaterThan(100 * MEBIBYTE);
  answering.resolve();
  expect((await socket.turn()).text).toBe("At last");
  for (let frame = 0; frame < frames; frame++) {
    expect((await socket.turn()).refusal).toMatchObject({ error: { code: "previous_response_not_found" } });
  }
});

test("a client that does not read makes its model wait, and takes no memory", async () => {
  let written = 0;
  const { server } = await serveBehind((response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const piece = sse(textChunk("x".repeat(4000)));
    const write = (): void => {
      while (!response.destroyed && response.write(piece)) written += piece.length;
      response.once("drain", write);
    };
    return write();
  });
  const socket = await openSocket(server);
  socket.socket.pause();
  socket.ask({ model: "m", store: false });
  await settled(() => written);
  expect(written).toBeLessThan(48 * MEBIBYTE);
  await checkOther(server);
  socket.leave();
});

/** Waits until a number of bytes is above 0 and has not changed for a while. */
async function settled(count: () => number): Promise<void> {
  for (let before = -1; before !== count() || before === 0; await sleep(SETTLING_MS)) before = count();
}

async function checkOther(server: TestServer): Promise<void> {
  expect((await server.fetch("/healthz")).status).toBe(200);
}

test("queued frames without a reader are served in order, without delay", async () => {
  const socket = await openSocket(await serve());
  const count = 300;
  for (let index = 0; index < count; index++) socket.ask({ input: `Say ${index}`, store: false });
  for (let index = 0; index < count; index++) expect((await socket.turn()).response.status).toBe("completed");
  expect(socket.frames).toEqual([]);
});

test("a hundred sockets are served in parallel", async () => {
  const server = await serve();
  const sockets = await Promise.all(Array.from({ length: 100 }, () => openSocket(server)));
  const turns = await Promise.all(sockets.map((socket) => socket.create({ store: false })));
  expect(turns.every(({ response }) => response.status === "completed")).toBe(true);
  const [first] = sockets;
  first?.socket.close();
  if (first !== undefined) await once(first.socket, "close");
  await checkAlive(server);
});
