import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { Antiphon, APIUserAbortError, InvalidReplyError, type RequestOptions, StreamBrokenError } from "../index.ts";
import { createEventCutter } from "./event-stream.ts";
import { bodyOf, collect, eventText, type LocalServer, openEvents, startLocalServer } from "./local-server.fixture.ts";

const CREATED = { type: "response.created", sequence_number: 0, response: { id: "resp_1" } };
const DELTA = { type: "response.output_text.delta", sequence_number: 1, delta: "Grüße, 世界 👋\r\n\u2028" };
const UNKNOWN = { type: "response.hologram.delta", sequence_number: 2, depth: { z: 1 } };
const COMPLETED = { type: "response.completed", sequence_number: 3, response: { id: "resp_1" } };
const EVENTS = [CREATED, DELTA, UNKNOWN, COMPLETED];

test("a streamed create is an async iterable of typed events that ends after the terminal event", async () => {
  verifies("client.streams.async-iterable");
  await using server = await startLocalServer((reply) => {
    openEvents(reply);
    for (const event of EVENTS) reply.write(eventText(event)); // The connection stays open.
  });
  const stream = await new Antiphon({ baseUrl: server.url }).createResponse({ model: "m", input: "hi", stream: true });
  let text = "";
  const types: string[] = [];
  for await (const event of stream) {
    types.push(event.type);
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  expect(types).toEqual(EVENTS.map(({ type }) => type));
  expect(text).toBe(DELTA.delta);
  expect(server.requests[0]?.body).toContain('"stream":true');
  await server.closed;
});

test.each(["response.completed", "response.incomplete", "response.failed"])(
  "nothing is read after %s",
  async (type) => {
    verifies("client.streams.async-iterable");
    expect(await readAll([{ type }, DELTA])).toEqual([{ type }]);
  },
);

test("error events are yielded where the caller wants them, and the events after them", async () => {
  verifies("client.streams.error-events");
  const events = [
    CREATED,
    { type: "error", sequence_number: 1, error: { code: "server_error", message: "Overloaded." } },
    { type: "response.failed", sequence_number: 2, response: { id: "resp_1" } },
  ];
  expect(await readAll(events, { errorEvents: "yield" })).toEqual(events);
  await expect(readAll(events)).rejects.toMatchObject({ name: "APIError", code: "server_error" });
});

test("events and members that the contract does not know are passed on", async () => {
  verifies("client.readers.unknown-members-ignored");
  const events = [{ ...CREATED, brand_new: [1] }, UNKNOWN, COMPLETED];
  expect(await readAll(events)).toEqual(events);
});

test("the connection is reused after a stream that the server ended", async () => {
  let connections = 0;
  await using server = await startLocalServer((reply) => {
    openEvents(reply);
    reply.end(eventText(COMPLETED));
  });
  server.server.on("connection", () => (connections += 1));
  const client = new Antiphon({ baseUrl: server.url });
  for (let call = 0; call < 3; call += 1) {
    await collect(await client.createResponse({ model: "m", stream: true }));
    await new Promise(setImmediate); // Until then Node regards the connection as busy.
  }
  expect(connections).toBe(1);
});

describe("bytes split anywhere", () => {
  const BYTES = Buffer.from(
    [
      ": ping\n\n",
      eventText(CREATED),
      ": a comment\r\n",
      eventText(DELTA).replaceAll("\n", "\r\n"),
      eventText(UNKNOWN),
      ":\n",
      eventText(COMPLETED),
    ].join(""),
  );

  test("one byte at a time", async () => {
    verifies("client.streams.any-chunking");
    expect(await readChunks([...BYTES].map((byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
  });

  test("split in two at every byte", async () => {
    verifies("client.streams.any-chunking");
    for (let at = 0; at <= BYTES.length; at += 1) {
      expect(await readChunks([BYTES.subarray(0, at), BYTES.subarray(at)]), `split at ${at}`).toEqual(EVENTS);
    }
  });

  test("in packets of their own over a socket", async () => {
    verifies("client.streams.any-chunking");
    await using server = await startLocalServer(async (reply) => {
      openEvents(reply);
      for (let at = 0; at < BYTES.length; at += 7) {
        reply.write(BYTES.subarray(at, at + 7));
        await new Promise(setImmediate);
      }
      reply.end();
    });
    expect(await collect(await open(server))).toEqual(EVENTS);
  });

  test("a byte order mark and [DONE] are not events", async () => {
    verifies("client.streams.any-chunking");
    expect(await readChunks([Buffer.from(`\uFEFFdata: [DONE]\n\n${eventText(COMPLETED)}`)])).toEqual([COMPLETED]);
  });

  async function readChunks(chunks: readonly Uint8Array[]): Promise<unknown[]> {
    const body = bodyOf(chunks);
    const fetch = () => Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
    return collect(await new Antiphon({ fetch }).createResponse({ model: "m", stream: true }));
  }
});

describe("leaving a stream", () => {
  test("leaving the loop early closes the connection", async () => {
    verifies("client.streams.leaving-early-closes");
    await using server = await startEndlessServer();
    for await (const event of await open(server)) if (event.type === "response.output_text.delta") break;
    await server.closed;
  });

  test("a loop that throws closes the connection", async () => {
    verifies("client.streams.leaving-early-closes");
    await using server = await startEndlessServer();
    const reading = (async () => {
      for await (const _ of await open(server)) throw new Error("mine");
    })();
    await expect(reading).rejects.toThrow("mine");
    await server.closed;
  });

  test("returning an iterator before its first use, or while it waits, closes the connection", async () => {
    verifies("client.streams.leaving-early-closes");
    await using unused = await startEndlessServer();
    await (await open(unused))[Symbol.asyncIterator]().return?.();
    await unused.closed;

    await using waiting = await startEndlessServer();
    const iterator = (await open(waiting))[Symbol.asyncIterator]();
    for (const _ of [CREATED, DELTA]) await iterator.next();
    const pending = iterator.next();
    await iterator.return?.();
    await expect(pending).rejects.toBeInstanceOf(APIUserAbortError);
    await waiting.closed;
  });

  test.each(["signal", "stream"])("an abort of the %s ends the loop at once and closes the connection", async (by) => {
    verifies("client.abort.signal-ends-call");
    await using server = await startEndlessServer();
    const controller = new AbortController();
    const client = new Antiphon({ baseUrl: server.url });
    const stream = await client.createResponse({ model: "m", stream: true }, { signal: controller.signal });
    setTimeout(() => (by === "signal" ? controller.abort("enough") : stream.abort("enough")), 50);
    await expect(collect(stream)).rejects.toMatchObject({ name: "APIUserAbortError", cause: "enough" });
    await server.closed;
  });

  test("events that arrived before an abort are not yielded after it", async () => {
    verifies("client.abort.signal-ends-call");
    await using server = await startEndlessServer();
    const stream = await open(server);
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    stream.abort();
    await expect(iterator.next()).rejects.toBeInstanceOf(APIUserAbortError);
  });

  test("a stream can be read only once", async () => {
    expect.assertions(1);
    await using server = await startEndlessServer();
    const stream = await open(server);
    for await (const _ of stream) break;
    expect(() => stream[Symbol.asyncIterator]()).toThrow("only once");
  });
});

describe("broken streams", () => {
  test("a stream without a terminal event rejects with the number of its last event", async () => {
    verifies("client.streams.broken-stream-rejects");
    const failure = await readAll([CREATED, DELTA]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StreamBrokenError);
    expect(failure).toMatchObject({ lastSequenceNumber: 1, requestId: "req_stream" });
  });

  test("a stream whose connection breaks rejects with the number of its last event and the cause", async () => {
    verifies("client.streams.broken-stream-rejects");
    await using server = await startLocalServer((reply) => {
      openEvents(reply);
      reply.write(eventText(CREATED) + eventText(DELTA) + eventText(COMPLETED).slice(0, -1));
      setTimeout(() => reply.destroy(), 30);
    });
    const failure = await collect(await open(server)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StreamBrokenError);
    expect(failure).toMatchObject({ lastSequenceNumber: 1, cause: expect.any(Error) });
  });

  test("a stream without any event rejects", async () => {
    verifies("client.streams.broken-stream-rejects");
    await expect(readAll([])).rejects.toMatchObject({ name: "StreamBrokenError", lastSequenceNumber: null });
  });

  test.each(["data: {not json}\n\n", "data: [1]\n\n", "data: 7\n\n"])(
    "an event that is no object (%j) rejects",
    async (text) => {
      await using server = await startLocalServer((reply) => {
        openEvents(reply);
        reply.write(text);
      });
      await expect(collect(await open(server))).rejects.toBeInstanceOf(InvalidReplyError);
      await server.closed;
    },
  );

  test("a reply that is not an event stream rejects at once", async () => {
    await using server = await startLocalServer(
      (reply) => void reply.writeHead(200, { "content-type": "application/json" }).end("{}"),
    );
    await expect(open(server)).rejects.toBeInstanceOf(InvalidReplyError);
  });

  test("an event beyond the size limit rejects", () => {
    const cutter = createEventCutter();
    const piece = `data: ${"x".repeat(8 * 1024 * 1024)}\n`;
    expect(() => {
      for (let pieces = 0; pieces < 9; pieces += 1) cutter.cut(piece);
    }).toThrow(InvalidReplyError);
  });
});

test("the stream of a stored response can be resumed after the last received number", async () => {
  verifies("client.streams.resume-after-number");
  await using server = await startLocalServer((reply, { url }) => {
    openEvents(reply);
    const after = Number(new URL(url, "http://x").searchParams.get("starting_after") ?? -1);
    for (const event of EVENTS.slice(after + 1)) reply.write(eventText(event));
    if (after === -1) reply.write(": broken here");
    reply.end();
  });
  const client = new Antiphon({ baseUrl: server.url });
  const events: unknown[] = [];
  let after: number | undefined;
  for await (const event of await client.createResponse({ model: "m", stream: true, background: true })) {
    events.push(event);
    after = event.sequence_number;
    if (after === 1) break;
  }
  const rest = { stream: true, ...(after === undefined ? {} : { starting_after: after }) } as const;
  for await (const event of await client.getResponse("resp_1", rest)) events.push(event);
  expect(events).toEqual(EVENTS);
  expect(server.requests[1]?.url).toBe("/v1/responses/resp_1?stream=true&starting_after=1");
});

function open(server: LocalServer, options: RequestOptions = {}) {
  return new Antiphon({ baseUrl: server.url }).createResponse({ model: "m", stream: true }, options);
}

async function readAll(events: readonly { readonly type: string }[], options: RequestOptions = {}): Promise<unknown[]> {
  await using server = await startLocalServer((reply) => {
    openEvents(reply);
    reply.end(events.map(eventText).join(""));
  });
  return await collect(await open(server, options));
}

/** Sends two events and then nothing. */
function startEndlessServer(): Promise<LocalServer> {
  return startLocalServer((reply) => {
    openEvents(reply);
    reply.write(eventText(CREATED) + eventText(DELTA));
  });
}
