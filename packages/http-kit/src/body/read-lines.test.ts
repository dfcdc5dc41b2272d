import { request as httpRequest } from "node:http";
import { ApiError } from "@antiphon/base/api-error.ts";
import { expect, test } from "vitest";
import type { Handler } from "../handler.ts";
import { type Sample, startSample } from "../http/sample-interface.fixture.ts";
import type { TransportOptions } from "../options.ts";

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

const echoLines: Handler<string | null> = async ({ body }) => ({ status: 200, lines: echo(body) });

async function* echo(lines: unknown): AsyncGenerator<object> {
  yield { hello: true };
  if (!isIterable(lines)) return;
  for await (const line of lines) {
    yield { line };
    if (line === "stop") return;
  }
  yield { end: true };
}

function startTalk(options: Partial<TransportOptions> = {}): Promise<Sample> {
  return startSample({ options, handlers: { talk: echoLines } });
}

/** One request whose body is sent in pieces while its reply is read line by line. */
function openTalk({ port }: Sample) {
  const headers = { "content-type": "application/x-ndjson" };
  const request = httpRequest({ port, host: "127.0.0.1", method: "POST", path: "/v1/talk", headers });
  request.on("error", () => {});
  request.flushHeaders();
  const lines = (async function* () {
    const response = await new Promise<AsyncIterable<Buffer>>((resolve) => request.once("response", resolve));
    let text = "";
    for await (const chunk of response) {
      text += String(chunk);
      const whole = text.split("\n");
      text = whole.pop() ?? "";
      yield* whole.map((line): unknown => JSON.parse(line));
    }
  })();
  return {
    send: (text: string) => request.write(text),
    end: () => request.end(),
    next: async () => (await lines.next()).value,
  };
}

test("lines are answered while the request is still being sent", async () => {
  const talk = openTalk(await startTalk());
  expect(await talk.next()).toEqual({ hello: true });
  talk.send('{"a":');
  talk.send('1}\n\n  \r\n[2]\r\n"half');
  expect(await talk.next()).toEqual({ line: { a: 1 } });
  expect(await talk.next()).toEqual({ line: [2] });
  talk.send('"');
  talk.end();
  expect(await talk.next()).toEqual({ line: "half" });
  expect(await talk.next()).toEqual({ end: true });
  expect(await talk.next()).toBeUndefined();
});

test("the reply ends when the handler ends it, although the client has sent more", async () => {
  const talk = openTalk(await startTalk());
  talk.send('"stop"\n"more"\n');
  expect([await talk.next(), await talk.next(), await talk.next()]).toEqual([
    { hello: true },
    { line: "stop" },
    undefined,
  ]);
});

test.each([
  ["a line that is not JSON", "nonsense\n", "invalid_json"],
  ["a line that is too long", `"${"x".repeat(2000)}"\n`, "body_too_large"],
  ["a line that never ends", "x".repeat(2000), "body_too_large"],
])("%s is thrown to the handler, and ends the stream as an error line", async (_what, text, code) => {
  const talk = openTalk(await startTalk({ messageBytesMax: 1000 }));
  talk.send(`1\n${text}`);
  expect([await talk.next(), await talk.next()]).toEqual([{ hello: true }, { line: 1 }]);
  expect(await talk.next()).toMatchObject({ type: "error", code });
});

test("a pause in the lines that is too long ends the stream", async () => {
  const talk = openTalk(await startTalk({ linesIdleTimeoutMs: 20 }));
  expect([await talk.next(), await talk.next()]).toMatchObject([{ hello: true }, { code: "body_timed_out" }]);
});

test("lines that are compressed or of another type are refused", async () => {
  const { url } = await startTalk();
  const post = (headers: Record<string, string>) => fetch(`${url}/v1/talk`, { method: "POST", headers, body: "1\n" });
  expect((await post({ "content-type": "application/x-ndjson", "content-encoding": "gzip" })).status).toBe(415);
  expect((await post({ "content-type": "application/json" })).status).toBe(415);
});

test("a handler may refuse a stream of lines before it opens", async () => {
  const { url } = await startSample({
    handlers: { talk: () => Promise.reject(new ApiError({ status: 503, type: "t", code: "loading", message: "m" })) },
  });
  const reply = await fetch(`${url}/v1/talk`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: "1\n",
  });
  expect([reply.status, reply.headers.get("content-type")]).toEqual([503, "application/json"]);
});
