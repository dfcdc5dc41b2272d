import { once } from "node:events";
import type { Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { ByteBudget } from "@antiphon/base/limits/byte-budget.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import {
  connectTo,
  everythingFrom,
  type Sample,
  sampleRoutes,
  startSample,
  until,
} from "../http/sample-interface.fixture.ts";
import type { TransportOptions } from "../options.ts";

const KIB = 1024;

async function startEcho(options: Partial<TransportOptions> = {}): Promise<Sample> {
  return startSample({
    options,
    contract: { routes: sampleRoutes, bodyValidators: {} },
    handlers: {
      createThing: async ({ body }) => ({ status: 200, body: { body } }),
      pokeThing: async ({ body }) => ({ status: 200, body: { poked: body === undefined } }),
    },
  });
}

function post({ url }: Sample, body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/v1/things`, {
    method: "POST",
    headers: { authorization: "me", "content-type": "application/json", ...headers },
    body,
  });
}

async function codeOf(reply: Response): Promise<unknown> {
  return JSON.parse(await reply.text()).error?.code ?? null;
}

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
])("a body compressed with %s is read", async (encoding, compress) => {
  const reply = await post(await startEcho(), new Uint8Array(compress('{"a":"ä"}')), { "content-encoding": encoding });
  expect(await reply.json()).toEqual({ body: { a: "ä" } });
});

test.each([
  ["gzip", gzipSync],
  ["zstd", zstdCompressSync],
])("a %s bomb is refused once it unpacks beyond the limit", async (encoding, compress) => {
  const sample = await startEcho({ bodyBytesMax: 64 * KIB });
  const bomb = compress(JSON.stringify("x".repeat(16 * KIB * KIB)));
  const reply = await post(sample, new Uint8Array(bomb), { "content-encoding": encoding });
  expect([reply.status, await codeOf(reply)]).toEqual([413, "body_too_large"]);
});

test.each([
  ["an unknown encoding", "{}", { "content-encoding": "rot13" }, [415, "unsupported_encoding"]],
  ["bytes that are not what their encoding says", "{}", { "content-encoding": "gzip" }, [400, "invalid_json"]],
  [
    "another media type",
    "a=b",
    { "content-type": "application/x-www-form-urlencoded" },
    [415, "unsupported_media_type"],
  ],
  ["another charset", "{}", { "content-type": "application/json; charset=utf-16" }, [415, "unsupported_media_type"]],
  ["JSON in UTF-8 by name", '"ü"', { "content-type": 'application/json; charset="UTF-8"' }, [200, null]],
  ["an empty body", "", {}, [400, "invalid_json"]],
  ["broken JSON", '{"a":', {}, [400, "invalid_json"]],
  ["a scalar", "1", {}, [200, null]],
])("%s gets its status and code", async (_what, body, headers, expected) => {
  const reply = await post(await startEcho(), body, headers);
  expect([reply.status, await codeOf(reply)]).toEqual(expected);
});

test("bytes that are not UTF-8 are refused", async () => {
  expect((await post(await startEcho(), new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
});

test("a body without a content type is read as JSON", async () => {
  const sample = await startEcho();
  const socket = connectTo(sample);
  socket.write(
    "POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
  );
  expect(await everythingFrom(socket)).toContain('{"body":{}}');
});

test("an optional body may be left out", async () => {
  const { url } = await startEcho();
  const reply = await fetch(`${url}/v1/things/x/poke`, { method: "POST" });
  expect(await reply.json()).toEqual({ poked: true });
});

test.each([10_000, 513])("JSON that is %i levels deep is refused", async (depth) => {
  const reply = await post(await startEcho(), "[".repeat(depth) + "]".repeat(depth));
  expect([reply.status, await codeOf(reply)]).toEqual([400, "invalid_json"]);
});

test("a client that sends too much gets a 413, with or without a content length", async () => {
  const sample = await startEcho({ bodyBytesMax: 64 * KIB });
  const announced = await post(sample, "x".repeat(8 * KIB * KIB));
  expect([announced.status, await codeOf(announced), announced.headers.get("connection")]).toEqual([
    413,
    "body_too_large",
    "close",
  ]);
  const socket = connectTo(sample);
  const reply = everythingFrom(socket);
  await sendAll(socket, 32 * KIB * KIB);
  expect(await reply).toMatch(/^HTTP\/1.1 413 [\s\S]*connection: close[\s\S]*body_too_large/);
});

/** Sends a whole chunked body before it reads the reply, as simple clients do. */
async function sendAll(socket: Socket, bytes: number): Promise<void> {
  socket.write("POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\nTransfer-Encoding: chunked\r\n\r\n");
  const chunk = `10000\r\n${"x".repeat(64 * KIB)}\r\n`;
  for (let sent = 0; sent < bytes; sent += 64 * KIB) {
    if (!socket.write(chunk)) await once(socket, "drain");
  }
  socket.write("0\r\n\r\n");
}

test("a connection is reused after an error if the whole body was read", async () => {
  const socket = connectTo(await startEcho());
  socket.write("POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel");
  await new Promise((resolve) => socket.once("data", resolve));
  const rest = everythingFrom(socket);
  socket.write("loGET /v1/things/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect(await rest).toContain("204 No Content");
});

test("a client that stops sending gets a 408 and loses its connection", async () => {
  const socket = connectTo(await startEcho({ bodyIdleTimeoutMs: 30 }));
  socket.write(
    'POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":',
  );
  await new Promise<void>((resolve) =>
    socket.on("data", (chunk) => {
      expect(String(chunk)).toMatch(/^HTTP\/1.1 408 [\s\S]*connection: close[\s\S]*body_timed_out/);
      resolve();
    }),
  );
});

test("a client that sends single bytes gets a 408 once the whole body takes too long", async () => {
  verifies("transport.body.slow-body-is-408");
  const socket = connectTo(await startEcho({ bodyTotalTimeoutMs: 150 }));
  socket.write(
    "POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n[",
  );
  const dripping = setInterval(() => socket.write(" "), 20);
  const [reply] = await once(socket, "data").finally(() => clearInterval(dripping));
  expect(String(reply)).toMatch(/^HTTP\/1.1 408 [\s\S]*connection: close[\s\S]*body_timed_out/);
});

test("a client that leaves in the middle of its body leaves no error in the log", async () => {
  const sample = await startEcho();
  const socket = connectTo(sample);
  socket.write(
    'POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":',
  );
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  const left = until(() => sample.log.length > 0);
  setImmediate(() => socket.destroy());
  await left;
  expect(sample.log.filter(({ level }) => level === "error")).toEqual([]);
});

test("a client that sends below the minimum rate gets a 408", async () => {
  verifies("transport.body.least-rate");
  const socket = connectTo(await startEcho({ bodyIdleTimeoutMs: 200 }));
  socket.write(
    `POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n["${"x".repeat(9000)}`,
  );
  const dripping = setInterval(() => socket.write("x"), 20);
  const [reply] = await once(socket, "data").finally(() => clearInterval(dripping));
  expect(String(reply)).toMatch(/^HTTP\/1.1 408 [\s\S]*connection: close[\s\S]*body_timed_out/);
});

test("a body beyond the memory budget gets a 503, and finished bodies free their share", async () => {
  const incoming = new ByteBudget(KIB * KIB);
  const sample = await startEcho({ incoming });
  const stalled = connectTo(sample);
  stalled.write(
    `POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\nContent-Type: application/json\r\nContent-Length: 900001\r\n\r\n"${"x".repeat(899_999)}`,
  );
  await until(() => incoming.heldBytes === 900_000);
  const refused = await post(sample, JSON.stringify("y".repeat(200 * KIB)));
  expect([refused.status, await codeOf(refused)]).toEqual([503, "no_room_for_body"]);
  expect((await post(sample, JSON.stringify("y".repeat(32 * KIB)))).status).toBe(200);
  stalled.write('"');
  await once(stalled, "data");
  expect(incoming.heldBytes).toBe(0);
  expect((await post(sample, JSON.stringify("y".repeat(900 * KIB)))).status).toBe(200);
});
