import { once } from "node:events";
import { expect, test } from "vitest";
import type { StreamEvent } from "../handler.ts";
import { connectTo, everythingFrom, startSample, until } from "./sample-interface.fixture.ts";

const GET = "GET /v1/things/x HTTP/1.1\r\nHost: x\r\n\r\n";

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

test("bytes that are not HTTP get a 400 as JSON, and the server keeps serving", async () => {
  const sample = await startSample();
  const socket = connectTo(sample);
  socket.write("\x16\x03\x01 what\r\n\r\n");
  expect(await everythingFrom(socket)).toMatch(
    /^HTTP\/1.1 400 Bad Request\r\n[\s\S]*content-type: application\/json[\s\S]*malformed_request/,
  );
  expect((await fetch(`${sample.url}/v1/things/x`)).status).toBe(204);
});

test("headers beyond the limit get a 431", async () => {
  const socket = connectTo(await startSample());
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nx-long: ${"x".repeat(20_000)}\r\n\r\n`);
  expect(await everythingFrom(socket)).toMatch(/^HTTP\/1.1 431 /);
});

test("a connection that is reset does not affect other connections", async () => {
  const sample = await startSample();
  const socket = connectTo(sample);
  socket.write("POST /v1/things HTTP/1.1\r\nHost: x\r\nContent-Le");
  await once(socket, "connect");
  socket.resetAndDestroy();
  expect((await fetch(`${sample.url}/v1/things/x`)).status).toBe(204);
});

test("listening on an address in use rejects", async () => {
  const { port } = await startSample();
  await expect(startSample({ listen: { port } })).rejects.toThrow("EADDRINUSE");
});

test("a stopping server lets a stream finish, then closes its connection", async () => {
  const end = gate();
  let began = false;
  const sample = await startSample({
    listen: { drainMs: 10_000 },
    handlers: {
      getThing: async () => ({
        status: 200,
        events: (async function* (): AsyncGenerator<StreamEvent> {
          yield { type: "first" };
          began = true;
          await end.opened;
          yield { type: "last" };
        })(),
      }),
    },
  });
  const socket = connectTo(sample);
  const idle = connectTo(sample);
  const idleText = everythingFrom(idle);
  idle.write(GET.replace("things/x", "things/special"));
  await once(idle, "data");
  const text = everythingFrom(socket);
  socket.write(GET);
  await until(() => began);
  const closed = sample.close();
  expect(await idleText).toContain("204 No Content");
  await expect(fetch(sample.url)).rejects.toThrow("fetch failed");
  end.open();
  await closed;
  expect(await text).toMatch(/event: last[\s\S]*\r\n0\r\n\r\n$/);
});

test("a request that arrives on an open connection while the server stops is refused", async () => {
  const end = gate();
  let began = false;
  const sample = await startSample({
    listen: { drainMs: 10_000 },
    handlers: {
      getThing: async () => {
        began = true;
        await end.opened;
        return { status: 200, body: {} };
      },
    },
  });
  const socket = connectTo(sample);
  const text = everythingFrom(socket);
  socket.write(GET + GET.replace("things/x", "things/special"));
  await until(() => began);
  const pipelined = connectTo(sample);
  const late = everythingFrom(pipelined);
  pipelined.write(GET.replace("\r\n\r\n", "\r\nX-Half: ")); // The connection is not idle, because a request has begun.
  await once(pipelined, "connect");
  await new Promise((resolve) => setTimeout(resolve, 20));
  const closed = sample.close();
  pipelined.write("y\r\n\r\n");
  expect(await late).toMatch(/^HTTP\/1.1 503 [\s\S]*connection: close[\s\S]*shutting_down/i);
  end.open();
  await closed;
  expect(await text).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*connection: close/i);
});

test("a request that outlasts the drain is aborted, may finish its reply, and is then cut off", async () => {
  const seen: string[] = [];
  const sample = await startSample({
    listen: { drainMs: 20, abortGraceMs: 200 },
    handlers: {
      getThing: async (_request, { signal }) => ({
        status: 200,
        events: (async function* (): AsyncGenerator<StreamEvent> {
          yield { type: "first" };
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          seen.push("aborted");
          yield { type: "farewell" };
        })(),
      }),
      getSpecialThing: (_request, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      deleteThing: () => new Promise(() => seen.push("deaf")),
    },
  });
  const streamed = connectTo(sample);
  streamed.write(GET);
  const polite = everythingFrom(streamed);
  const rejecting = fetch(`${sample.url}/v1/things/special`);
  const deaf = fetch(`${sample.url}/v1/things/x`, { method: "DELETE" }).catch(() => "cut");
  await once(streamed, "data");
  await until(() => seen.includes("deaf"));
  await sample.close();
  expect(await polite).toContain("event: farewell");
  expect((await rejecting).status).toBe(503);
  expect(await deaf).toBe("cut");
});

test("close can be called twice", async () => {
  const sample = await startSample();
  await Promise.all([sample.close(), sample.close()]);
});
