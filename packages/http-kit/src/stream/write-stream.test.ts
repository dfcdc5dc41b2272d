import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "@antiphon/base/api-error.ts";
import { rememberJson } from "@antiphon/base/json/json-text.ts";
import { ReplyCut } from "@antiphon/base/reply-cut.ts";
import { UnfinishedStream } from "@antiphon/base/streams/unfinished-stream.ts";
import { expect, test } from "vitest";
import type { RequestContext, StreamEvent } from "../handler.ts";
import {
  connectTo,
  everythingFrom,
  listed,
  type Sample,
  sampleRoutes,
  startSample,
  until,
} from "../http/sample-interface.fixture.ts";
import type { TransportOptions } from "../options.ts";

const GET = "GET /v1/things/x HTTP/1.1\r\nHost: x\r\n\r\n";

interface Numbered extends StreamEvent {
  readonly n: number;
}

function numbered(n: number): Numbered {
  return { type: "number", n };
}

function said(value: string): StreamEvent & { readonly text: string } {
  return { type: "text", text: value };
}

function startStream(
  events: (context: RequestContext<string | null>) => AsyncIterable<StreamEvent>,
  options: Partial<TransportOptions> = {},
): Promise<Sample> {
  return startSample({
    options,
    handlers: { getThing: async (_request, context) => ({ status: 200, events: events(context) }) },
  });
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

test("events are framed by type and compact JSON, and nothing follows the last", async () => {
  const { url } = await startStream(() => listed<StreamEvent>(numbered(1), said("a\n\u2028b")), {
    prettyJson: true,
  });
  const reply = await fetch(`${url}/v1/things/x`);
  expect([
    reply.headers.get("content-type"),
    reply.headers.get("cache-control"),
    reply.headers.get("x-accel-buffering"),
  ]).toEqual(["text/event-stream; charset=utf-8", "no-cache", "no"]);
  expect(await reply.text()).toBe(
    'event: number\ndata: {"type":"number","n":1}\n\nevent: text\ndata: {"type":"text","text":"a\\n\u2028b"}\n\n',
  );
});

test("an event whose JSON is remembered is not serialized again", async () => {
  const { url } = await startStream(() => listed(rememberJson(numbered(1), '{"as":"remembered"}')));
  expect(await (await fetch(`${url}/v1/things/x`)).text()).toContain('data: {"as":"remembered"}');
});

test("an empty stream is an empty reply", async () => {
  const { url } = await startStream(() => listed());
  const reply = await fetch(`${url}/v1/things/x`);
  expect([reply.status, await reply.text()]).toEqual([200, ""]);
});

test("the first event does not wait for the second", async () => {
  const second = gate();
  const { url } = await startStream(async function* () {
    yield numbered(1);
    await second.opened;
    yield numbered(2);
  });
  const reply = await fetch(`${url}/v1/things/x`);
  const reader = reply.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('"n":1');
  second.open();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('"n":2');
});

test("events of one turn of the event loop go out in one write", async () => {
  const bursts = [gate(), gate(), gate()];
  const { url } = await startStream(async function* () {
    for (const burst of bursts) {
      await burst.opened;
      for (let n = 0; n < 100; n++) yield numbered(n);
    }
  });
  const reply = fetch(`${url}/v1/things/x`); // The headers are sent with the first event.
  bursts[0]?.open();
  const reader = (await reply).body?.getReader();
  for (const next of [...bursts.slice(1), gate()]) {
    const piece = Buffer.from((await reader?.read())?.value ?? []).toString();
    expect([...piece.matchAll(/"n":\d+/g)]).toHaveLength(100);
    next.open();
  }
  expect(await reader?.read()).toMatchObject({ done: true });
});

test("a long stream arrives completely and in order", async () => {
  const { url } = await startStream(async function* () {
    for (let n = 0; n < 50_000; n++) yield numbered(n);
  });
  const text = await (await fetch(`${url}/v1/things/x`)).text();
  const numbers = [...text.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
  expect(numbers).toEqual(Array.from({ length: 50_000 }, (_, n) => n));
});

test("a client that does not read stops the source, so that memory stays bounded", async () => {
  let pulled = 0;
  let isReturned = false;
  const frame = 1024;
  const sample = await startStream(async function* () {
    try {
      for (;;) {
        pulled++;
        yield said("x".repeat(frame));
      }
    } finally {
      isReturned = true;
    }
  });
  const socket = connectTo(sample);
  socket.pause();
  socket.write(GET);
  await until(() => pulled * frame > 64 * 1024);
  await stillness(() => pulled);
  expect(pulled * frame).toBeLessThan(16 * 1024 * 1024); // Most of it is in the kernel's socket buffers.
  socket.destroy();
  await until(() => isReturned);
});

/** Resolves when the number has not changed for 50 ms. */
async function stillness(read: () => number): Promise<void> {
  for (let last = -1; last !== read(); ) {
    last = read();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("a source that is always ready does not block other requests", async () => {
  const sample = await startSample({
    handlers: {
      getThing: async () => ({
        status: 200,
        events: (async function* () {
          for (;;) yield numbered(1);
        })(),
      }),
    },
  });
  const greedy = connectTo(sample);
  greedy.write(GET);
  greedy.resume();
  await new Promise((resolve) => greedy.once("data", resolve));
  expect((await fetch(`${sample.url}/v1/things/special`)).status).toBe(204);
});

test("comments are sent while a source is silent", async () => {
  const end = gate();
  const { url } = await startStream(
    async function* () {
      yield numbered(1);
      await end.opened;
    },
    { keepAliveMs: 5 },
  );
  const reply = await fetch(`${url}/v1/things/x`);
  let text = "";
  for await (const piece of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.split(": keepalive\n\n").length > 3) end.open();
  }
  expect(text).toMatch(/^event: number\ndata: {"type":"number","n":1}\n\n(: keepalive\n\n)+$/);
});

async function* failing(error: Error, ...before: readonly StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* before;
  throw error;
}

test("comments are also sent before the first event", async () => {
  const end = gate();
  const { url } = await startStream(
    async function* () {
      await end.opened;
      yield numbered(1);
    },
    { keepAliveMs: 5 },
  );
  const reply = await fetch(`${url}/v1/things/x`);
  end.open();
  expect(await reply.text()).toMatch(/^(: keepalive\n\n)+event: number/);
});

test.each([0, 1, 2])("a client that leaves after %i events aborts the signal and ends the source", async (count) => {
  const signals: AbortSignal[] = [];
  let isReturned = false;
  const sample = await startStream(async function* ({ signal }) {
    signals.push(signal);
    try {
      for (let n = 0; n < count; n++) yield numbered(n);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield numbered(-1);
    } finally {
      isReturned = true;
    }
  });
  const socket = connectTo(sample);
  let text = "";
  socket.on("data", (chunk) => {
    text += String(chunk);
  });
  socket.write(GET);
  await until(() => signals.length > 0 && text.split("data: ").length === count + 1);
  expect(signals[0]?.aborted).toBe(false);
  socket.destroy();
  await until(() => isReturned);
  expect(signals[0]?.aborted).toBe(true);
  expect(sample.log.filter(({ level }) => level === "error")).toEqual([]);
  expect(sample.log.at(-1)?.fields).toMatchObject({ complete: false });
});

test("the stream is ended unread if the client leaves before the handler answers", async () => {
  const answer = gate();
  let isReturned = false;
  let pulled = 0;
  const events = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false as const, value: numbered(pulled++) }),
      return: async () => {
        isReturned = true;
        return { done: true as const, value: undefined };
      },
    }),
  };
  const signals: AbortSignal[] = [];
  const sample = await startSample({
    handlers: {
      getThing: async (_request, { signal }) => {
        signals.push(signal);
        await answer.opened;
        return { status: 200, events };
      },
    },
  });
  const socket = connectTo(sample);
  socket.write(GET);
  await until(() => signals.length > 0);
  socket.destroy();
  await until(() => signals[0]?.aborted === true);
  answer.open();
  await until(() => isReturned);
  expect(pulled).toBe(0);
});

test("a source that fails before its first event gets an ordinary error reply", async () => {
  const { url } = await startStream(() =>
    failing(new ApiError({ status: 409, type: "t", code: "taken", message: "m" })),
  );
  const reply = await fetch(`${url}/v1/things/x`);
  expect([reply.status, reply.headers.get("content-type")]).toEqual([409, "application/json"]);
});

test.each([
  ["an ApiError", new ApiError({ status: 503, type: "t", code: "overloaded", message: "m" }), "overloaded", 0],
  ["an internal error", new Error("the secret"), "internal_error", 1],
])("after the headers, %s becomes the stream's last event", async (_what, error, code, logged) => {
  const sample = await startStream(() => failing(error, numbered(1)));
  const text = await (await fetch(`${sample.url}/v1/things/x`)).text();
  expect(text).toBe(
    `event: number\ndata: {"type":"number","n":1}\n\nevent: error\ndata: {"type":"error","code":"${code}","last":{"type":"number","n":1}}\n\n`,
  );
  expect(sample.log.filter(({ level }) => level === "error")).toHaveLength(logged);
});

const unfinished = (cause: Error) =>
  new UnfinishedStream("the rest cannot be read", { cause, logFields: { thing: "x" } });

test.each([
  ["an ApiError", new ApiError({ status: 503, type: "t", code: "overloaded", message: "m" }), "warn"],
  ["an internal error", new Error("the secret"), "error"],
])(
  "a stream that can be resumed is cut without an event, and the log says once why: %s",
  async (_what, cause, level) => {
    let signal: AbortSignal | null = null;
    const sample = await startStream((context) => {
      signal = context.signal;
      return failing(unfinished(cause), numbered(1));
    });
    const reply = await fetch(`${sample.url}/v1/things/x`);
    let text = "";
    const read = async (): Promise<void> => {
      for await (const piece of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
    };
    await expect(read()).rejects.toThrow("terminated");
    expect(text).toBe('event: number\ndata: {"type":"number","n":1}\n\n');
    await until(() => sample.log.some(({ message }) => message === "request"));
    const told = sample.log.filter(({ fields }) => "err" in fields);
    expect(told).toMatchObject([{ level, fields: { thing: "x", requestId: expect.any(String), err: { cause } } }]);
    expect(signal).toMatchObject({ aborted: true, reason: expect.any(ReplyCut) }); // A stored run continues.
  },
);

test("a stream that is cut does not look complete to a client of HTTP/1.0", async () => {
  const sample = await startStream(() => failing(unfinished(new Error("gone")), numbered(1)));
  const socket = connectTo(sample);
  const error = new Promise((resolve) => socket.once("error", resolve));
  socket.resume().write(GET.replace("HTTP/1.1", "HTTP/1.0"));
  expect(await error).toMatchObject({ code: "ECONNRESET" });
});

test("a stream that can be resumed but cannot begin gets the error reply of its cause", async () => {
  const cause = new ApiError({ status: 503, type: "t", code: "overloaded", message: "m" });
  const { url } = await startStream(() => failing(unfinished(cause)));
  const reply = await fetch(`${url}/v1/things/x`);
  expect([reply.status, await reply.json()]).toMatchObject([503, { error: { code: "overloaded" } }]);
});

test("an event that breaks the contract ends the stream with an error if replies are checked", async () => {
  const onlyOnes = Object.assign((event: unknown) => JSON.stringify(event) === JSON.stringify(numbered(1)), {
    errors: [],
  });
  const sample = await startSample({
    contract: {
      routes: sampleRoutes,
      bodyValidators: {},
      eventValidators: { getThing: onlyOnes },
    },
    handlers: { getThing: async () => ({ status: 200, events: listed(numbered(1), numbered(2)) }) },
  });
  const text = await (await fetch(`${sample.url}/v1/things/x`)).text();
  expect(text).toMatch(/"n":1}\n\nevent: error\n[^\n]*internal_error/);
});

test("a connection is reused after a stream", async () => {
  const socket = connectTo(await startStream(() => listed(numbered(1))));
  socket.write(GET + GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  expect((await everythingFrom(socket)).split("HTTP/1.1 200 OK")).toHaveLength(3);
});

test("a HEAD request for a stream gets its headers, and the source is not read", async () => {
  let pulled = 0;
  const { url } = await startStream(async function* () {
    for (;;) yield numbered(pulled++);
  });
  const reply = await fetch(`${url}/v1/things/x`, { method: "HEAD" });
  expect([reply.status, reply.headers.get("content-type"), pulled]).toEqual([
    200,
    "text/event-stream; charset=utf-8",
    0,
  ]);
});

test("a silent stream has no keep-alive comments if they are switched off", async () => {
  const silence = async function* (): AsyncGenerator<StreamEvent> {
    yield numbered(1);
    await sleep(50); // Comments would come in this silence.
    yield numbered(2);
  };
  const { url } = await startStream(silence, { keepAliveMs: 0 });
  expect(await (await fetch(`${url}/v1/things/x`)).text()).not.toContain(": keepalive");
});
