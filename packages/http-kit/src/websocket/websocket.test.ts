import { once } from "node:events";
import { ApiError } from "@antiphon/base/api-error.ts";
import { ReplyCut } from "@antiphon/base/reply-cut.ts";
import { UnfinishedStream } from "@antiphon/base/streams/unfinished-stream.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import {
  connectTo,
  everythingFrom,
  notImplemented,
  type Sample,
  type SampleChoices,
  startSample,
  until,
} from "../http/sample-interface.fixture.ts";
import type { SocketEndpoint } from "./websocket.ts";

type Handle = SocketEndpoint<string | null>["handle"];

const echo: Handle = async function* (messages) {
  yield { hello: true };
  for await (const message of messages) {
    if (message === "stop") return;
    if (message === "break") throw new Error("the secret");
    yield { message };
  }
};

function startSockets(handle: Handle = echo, choices: SampleChoices = {}): Promise<Sample> {
  return startSample({
    upgrades: [
      { path: "/v1/socket", secured: false, handle },
      { path: "/v1/private", secured: true, handle },
      { path: "/v1/later", refuse: (path) => notImplemented(path) },
    ],
    ...choices,
  });
}

function open({ port }: Sample, path = "/v1/socket"): WebSocket & { readonly received: unknown[] } {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  onTestFinished(() => socket.terminate());
  const received: unknown[] = [];
  socket.on("message", (text: Buffer) => received.push(JSON.parse(text.toString())));
  socket.on("error", () => {});
  return Object.assign(socket, { received });
}

async function closeCodeOf(socket: WebSocket): Promise<unknown> {
  const [code]: unknown[] = await once(socket, "close");
  return code;
}

test("messages are answered in order until the handler ends the session", async () => {
  const socket = open(await startSockets());
  await once(socket, "open");
  for (const message of [1, { a: "ü" }, "stop"]) socket.send(JSON.stringify(message));
  expect(await closeCodeOf(socket)).toBe(1000);
  expect(socket.received).toEqual([{ hello: true }, { message: 1 }, { message: { a: "ü" } }]);
});

test.each([
  ["a message that is not JSON", "nonsense", 1008, "invalid_json"],
  ["a binary message", Buffer.from("1"), 1003, "binary_message"],
  ["a handler that breaks", '"break"', 1011, "internal_error"],
  ["a message that is too large", `"${"x".repeat(2000)}"`, 1009, "message_too_large"],
])("%s ends the session", async (_what, message, closeCode, code) => {
  const socket = open(await startSockets(echo, { options: { messageBytesMax: 1000 } }));
  await once(socket, "open");
  socket.send(message);
  expect(await closeCodeOf(socket)).toBe(closeCode);
  if (code !== null) expect(socket.received.at(-1)).toMatchObject({ type: "error", code });
});

test("a handler may read on after a message that is not JSON", async () => {
  const sample = await startSockets(async function* (messages) {
    for (;;) {
      const next = await messages.next().catch((error: unknown) => ({ done: false, value: String(error) }));
      if (next.done === true || next.value === "stop") return;
      yield { message: next.value };
    }
  });
  const socket = open(sample);
  await once(socket, "open");
  for (const text of ["1", "nonsense", '"[', "2", '"stop"']) socket.send(text);
  expect(await closeCodeOf(socket)).toBe(1000);
  const fault = { message: expect.stringContaining("invalid_json") };
  expect(socket.received).toEqual([{ message: 1 }, fault, fault, { message: 2 }]);
});

test("a path may have its own message size, error message and limit of sessions", async () => {
  const room = { socketsMax: 1, refuse: () => notImplemented("more") };
  const sample = await startSample({
    upgrades: [
      {
        path: "/v1/socket",
        secured: false,

        handle: echo,
        messageBytesMax: 20,
        room,
        errorMessage: ({ code }) => ({ farewell: code }),
      },
    ],
  });
  const first = open(sample);
  await once(first, "message");
  const [, refused] = await once(open(sample), "unexpected-response");
  expect(refused.statusCode).toBe(501);
  first.send('"break"');
  expect(await closeCodeOf(first)).toBe(1011);
  expect(first.received).toEqual([{ hello: true }, { farewell: "internal_error" }]);
  await until(() => sample.log.some(({ message }) => message === "WebSocket closed"));
  const second = open(sample);
  await once(second, "message");
  second.send('"this is more than 20 bytes"');
  expect(await closeCodeOf(second)).toBe(1009);
});

test("a session whose client can resume elsewhere is closed with 1013 and without a message", async () => {
  let left: AbortSignal | null = null;
  const sample = await startSockets(async function* (_messages, { signal }) {
    left = signal;
    yield { hello: true };
    throw new UnfinishedStream("the rest cannot be read", { cause: new Error("gone"), logFields: { thing: "x" } });
  });
  const socket = open(sample);
  expect(await closeCodeOf(socket)).toBe(1013);
  expect(socket.received).toEqual([{ hello: true }]);
  expect(left).toMatchObject({ aborted: true, reason: expect.any(ReplyCut) }); // Stored runs continue.
  const told = sample.log.filter(({ fields }) => "err" in fields);
  expect(told).toMatchObject([{ level: "error", fields: { thing: "x", requestId: expect.any(String) } }]);
});

test("a session that ends while the server stops closes with 1001", async () => {
  const sample = await startSockets(
    async function* (_messages, { draining }) {
      yield { hello: true };
      await new Promise<void>((resolve) => draining.addEventListener("abort", () => resolve()));
      yield { bye: true };
    },
    { listen: { drainMs: 5000 } },
  );
  const socket = open(sample);
  await once(socket, "message");
  const stopped = sample.close();
  expect(await closeCodeOf(socket)).toBe(1001);
  expect(socket.received).toEqual([{ hello: true }, { bye: true }]);
  await stopped;
});

test("a handler may authenticate the session again", async () => {
  let isRevoked = false;
  const authenticate = async (): Promise<string> => {
    if (isRevoked) throw new ApiError({ status: 401, type: "t", code: "revoked", message: "no" });
    return "me";
  };
  const sample = await startSockets(
    async function* (messages, context) {
      yield { principal: context.principal };
      for await (const _message of messages) yield { principal: await context.authenticate() };
    },
    { admission: { authenticate, anonymous: null } },
  );
  const socket = open(sample, "/v1/private");
  await once(socket, "message");
  socket.send("1");
  await once(socket, "message");
  isRevoked = true;
  socket.send("2");
  expect(await closeCodeOf(socket)).toBe(1008);
  expect(socket.received).toEqual([
    { principal: "me" },
    { principal: "me" },
    expect.objectContaining({ type: "error", code: "revoked" }),
  ]);
});

test("a client that leaves aborts the signal and ends the messages", async () => {
  const ended: string[] = [];
  const sample = await startSockets(async function* (messages, { signal }) {
    signal.addEventListener("abort", () => ended.push("signal"));
    yield { hello: true };
    for await (const _message of messages);
    ended.push("messages");
  });
  const socket = open(sample);
  await once(socket, "message");
  socket.terminate();
  await until(() => ended.length === 2);
  expect(ended.toSorted()).toEqual(["messages", "signal"]);
});

test("messages wait at the client while the handler is busy", async () => {
  const busy = Promise.withResolvers<void>();
  let taken = 0;
  const sample = await startSockets(async function* (messages) {
    yield { hello: true };
    for await (const _message of messages) {
      taken++;
      await busy.promise;
      if (taken === 300) return;
    }
  });
  const socket = open(sample);
  await once(socket, "message");
  const large = JSON.stringify("x".repeat(100_000));
  for (let n = 0; n < 300; n++) socket.send(large);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(socket.bufferedAmount).toBeGreaterThan(5_000_000);
  busy.resolve();
  expect(await closeCodeOf(socket)).toBe(1000);
  expect(taken).toBe(300);
});

test("a socket that does not answer pings is closed", async () => {
  const sample = await startSockets(echo, { options: { pingIntervalMs: 200 } });
  const living = open(sample);
  const dead = connectTo(sample); // Sends nothing after the handshake.
  dead.write(
    "GET /v1/socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  expect(await everythingFrom(dead)).toMatch(/^HTTP\/1.1 101/);
  expect(living.readyState).toBe(WebSocket.OPEN);
});

test("a large message that stalls ends the session, and a small one may be slow", async () => {
  const sample = await startSockets(echo, { options: { pingIntervalMs: 100 } });
  const stalled = open(sample);
  const small = open(sample);
  await Promise.all([once(stalled, "message"), once(small, "message")]);
  stalled.send(`"${"x".repeat(200_000)}`, { fin: false });
  small.send(`"${"x".repeat(1000)}`, { fin: false });
  expect(await closeCodeOf(stalled)).toBe(1001);
  expect(stalled.received.at(-1)).toMatchObject({ type: "error", code: "body_timed_out" });
  small.send('"', { fin: true });
  await once(small, "message");
});

test("the reply to an upgrade carries the standing headers and the caller's", async () => {
  const { url } = await startSockets(echo, {
    admission: {
      authenticate: async () => "me",
      anonymous: null,
      headersFor: (caller) => ({ "x-caller": String(caller) }),
    },
    options: { standingHeaders: () => ({ "x-version": "1" }) },
  });
  const upgraded = async (path: string) => {
    const socket = new WebSocket(url.replace("http", "ws") + path);
    onTestFinished(() => socket.terminate());
    const [{ headers }] = await once(socket, "upgrade");
    return [headers["x-request-id"], headers["x-version"], headers["x-caller"]];
  };
  expect(await upgraded("/v1/private")).toEqual([expect.stringMatching(/^req_/), "1", "me"]);
  expect(await upgraded("/v1/socket")).toEqual([expect.stringMatching(/^req_/), "1", undefined]);
});

test.each([
  ["/v1/nothing", 404, "unknown_route"],
  ["/v1/later", 501, "not_implemented"],
  ["/v1/private", 401, "no_key"],
])("an upgrade of %s is refused with %i", async (path, status, code) => {
  const { url } = await startSockets();
  const socket = new WebSocket(url.replace("http", "ws") + path);
  socket.on("error", () => {});
  const [, response] = await once(socket, "unexpected-response");
  const [body]: unknown[] = await once(response, "data");
  expect([response.statusCode, JSON.parse(String(body)).error.code]).toEqual([status, code]);
  expect(response.headers["x-request-id"]).toMatch(/^req_/);
});

test("an upgrade that the interface does not admit is refused", async () => {
  const admit = () => {
    throw new ApiError({ status: 403, type: "t", code: "origin_not_allowed", message: "no" });
  };
  const { url } = await startSockets(echo, { admission: { authenticate: async () => null, anonymous: null, admit } });
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/socket`);
  socket.on("error", () => {});
  const [, response] = await once(socket, "unexpected-response");
  expect(response.statusCode).toBe(403);
});

test("a plain request to a WebSocket path gets a 426", async () => {
  const { url } = await startSockets();
  expect((await fetch(`${url}/v1/socket`)).status).toBe(426);
});

test("a wrong method on a path that also serves plain requests gets a 405", async () => {
  const { url } = await startSockets(echo, { upgrades: [{ path: "/v1/things", refuse: notImplemented }] });
  expect((await fetch(`${url}/v1/things`)).status).toBe(405);
});

test("an upgrade to HTTP/2 is ignored", async () => {
  const socket = connectTo(await startSockets());
  socket.write(
    "GET /v1/things/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
  );
  const [reply]: unknown[] = await once(socket, "data");
  expect(String(reply)).toMatch(/^HTTP\/1.1 204/);
});

test("a session that is open when the server stops is closed with 1001", async () => {
  const sample = await startSockets();
  const socket = open(sample);
  await once(socket, "message");
  const code = closeCodeOf(socket);
  await sample.close();
  expect(await code).toBe(1001);
});

test("a session that the server ends sends its last messages before it closes with 1001", async () => {
  const sample = await startSockets(async function* (_messages, { signal }) {
    yield { hello: true };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    await new Promise(setImmediate);
    yield { bye: true };
  });
  const socket = open(sample);
  await once(socket, "message");
  const code = closeCodeOf(socket);
  await sample.close();
  expect(await code).toBe(1001);
  expect(socket.received).toEqual([{ hello: true }, { bye: true }]);
});

describe("a socket that is paused because too many messages wait", () => {
  const MORE_THAN_WAITS = 40;
  const pad = "x".repeat(512 * 1024);

  async function openFull(handle: Handle, choices: SampleChoices = {}): Promise<WebSocket & { received: unknown[] }> {
    const socket = open(await startSockets(handle, choices));
    await once(socket, "message");
    for (let index = 0; index < MORE_THAN_WAITS; index += 1) socket.send(JSON.stringify({ index, pad }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    return socket;
  }

  test("closes at once when the handler stops reading", async () => {
    const done = Promise.withResolvers<void>();
    const socket = await openFull(
      async function* (messages) {
        yield { hello: true };
        await done.promise;
        await messages.return?.();
      },
      { options: { messageBytesMax: 1024 * 1024 } },
    );
    const closed = closeCodeOf(socket);
    const since = performance.now();
    done.resolve();
    expect(await closed).toBe(1000);
    expect(performance.now() - since).toBeLessThan(10_000); // The package ws gives up after 30 s.
  });

  test.each(["closes", "resets"])("aborts the signal when its client %s", async (how) => {
    const left = Promise.withResolvers<void>();
    const socket = await openFull(
      async function* (_messages, { signal }) {
        signal.addEventListener("abort", () => left.resolve());
        yield { hello: true };
        await left.promise;
      },
      { options: { messageBytesMax: 1024 * 1024, pingIntervalMs: 50 } },
    );
    if (how === "closes") socket.terminate();
    else Reflect.get(socket, "_socket").resetAndDestroy();
    await left.promise;
  });
});
