import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { textPieces } from "../kit/event-stream.ts";
import { startLocalSttServer } from "../local-stt-server.ts";
import { verifies } from "../verifies.ts";

const NAME = "b1c7d0c2-5d0e-4a51-9f3e-2f6f0f3d6a11";
const MESSAGES = [{ role: "user", content: "hello" }];

/** A speech server with a provider whose answers the test writes. */
async function serve() {
  const replies: ServerResponse[] = [];
  const provider = await serveChat((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    replies.push(response);
  });
  const env = { FORMATTER_BASE_URL: `${provider.origin}/v1`, FORMATTER_API_KEY: "any", FORMATTER_MODEL: "small" };
  const server = await startLocalSttServer({ env });
  onTestFinished(() => server.close());
  const ask = (body: object = {}, signal?: AbortSignal): Promise<Response> =>
    fetch(`${server.url}/demo/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: MESSAGES, stream: true, answer_id: NAME, ...body }),
      ...(signal === undefined ? {} : { signal }),
    });
  const stop = (query = `?answer_id=${NAME}`): Promise<Response> =>
    fetch(`${server.url}/demo/chat${query}`, { method: "DELETE" });
  const reply = async (index: number): Promise<ServerResponse> => {
    await expect.poll(() => replies.length).toBeGreaterThan(index);
    const found = replies[index];
    if (found === undefined) throw new Error("the provider was not asked");
    return found;
  };
  const say = async (index: number, ...words: readonly string[]): Promise<void> => {
    (await reply(index)).write(sse(...words.map(textChunk)));
  };
  const end = async (index: number): Promise<void> => {
    (await reply(index)).end(sse(lastChunk("stop"), "[DONE]"));
  };
  return { server, asked: () => replies.length, ask, stop, reply, say, end };
}

/** Reads lines until one of them holds these words. */
async function readUntil(reply: Response, words: string): Promise<void> {
  let read = "";
  for await (const piece of textPieces(reply)) {
    read += piece;
    if (read.includes(words)) return;
  }
}

function linesOf(text: string): readonly unknown[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line): unknown => JSON.parse(line));
}

const whole = (content: string) => ({ type: "chat.done", message: { role: "assistant", content }, model: "m" });

test("an answer with a name goes on when its reader leaves, and the same request gets it from its beginning", async () => {
  verifies("stt.demo.named-answer-survives");
  const { asked, ask, say, end } = await serve();
  const leaving = new AbortController();
  const first = ask({}, leaving.signal);
  await say(0, "One, ");
  await readUntil(await first, "One, ");
  leaving.abort();
  await say(0, "two, ");
  const second = await ask();
  const also = await ask();
  await say(0, "three.");
  await end(0);
  const lines = linesOf(await second.text());
  expect(lines[0]).toMatchObject({ type: "chat.delta", text: expect.stringMatching(/^One, /) });
  expect(lines.at(-1)).toEqual(whole("One, two, three."));
  expect(linesOf(await also.text()).at(-1)).toEqual(whole("One, two, three."));
  expect(linesOf(await (await ask()).text())).toEqual([
    { type: "chat.delta", text: "One, two, three." },
    whole("One, two, three."),
  ]);
  expect(await (await ask({ stream: false })).json()).toEqual({
    message: { role: "assistant", content: "One, two, three." },
    model: "m",
  });
  expect(asked()).toBe(1);
});

test("an answer with a name is stopped by it, and its readers are told", async () => {
  verifies("stt.demo.named-answer-survives");
  const { asked, ask, stop, reply, say } = await serve();
  const reading = ask();
  await say(0, "One, ");
  const stopped = once(await reply(0), "close");
  const text = (await reading).text();
  expect((await stop()).status).toBe(204);
  await stopped;
  expect(linesOf(await text).at(-1)).toMatchObject({ type: "error", code: "provider_failed" });
  expect((await stop()).status).toBe(204);
  expect((await stop("")).status).toBe(400);
  void ask(); // The same name begins anew.
  await expect.poll(asked).toBe(2);
});

test("an answer without a name ends with its reader", async () => {
  const { ask, reply, say } = await serve();
  const leaving = new AbortController();
  const reading = ask({ answer_id: null }, leaving.signal);
  await say(0, "One, ");
  await readUntil(await reading, "One, ");
  const closed = once(await reply(0), "close");
  leaving.abort();
  await closed;
});

test("a name of other messages is refused, and a failed answer is asked anew", async () => {
  verifies("stt.demo.named-answer-survives");
  const { asked, ask, reply, say, end } = await serve();
  const first = ask();
  await say(0, "One, ");
  const other = await ask({ messages: [{ role: "user", content: "something else" }] });
  expect([other.status, await other.json()]).toMatchObject([400, { error: { code: "invalid_request" } }]);
  const text = (await first).text();
  (await reply(0)).destroy();
  expect(linesOf(await text).at(-1)).toMatchObject({ type: "error", code: "provider_unreachable" });
  const second = ask();
  await say(1, "Two.");
  await end(1);
  expect(linesOf(await (await second).text()).at(-1)).toEqual(whole("Two."));
  expect(asked()).toBe(2);
});

test("so many answers with names may be written at a time, and a complete one makes room", async () => {
  const { ask, reply, say, end } = await serve();
  const name = (index: number): object => ({ answer_id: `an-answer-with-a-name-${index}` });
  const reading: Promise<Response>[] = [];
  for (let index = 0; index < 16; index += 1) {
    reading.push(ask(name(index)));
    await reply(index);
  }
  const busy = await ask(name(16));
  expect([busy.status, await busy.json()]).toMatchObject([503, { error: { code: "busy" } }]);
  await say(3, "Done.");
  await end(3);
  await (await reading[3])?.text();
  const last = ask(name(16));
  await say(16, "Yes.");
  await end(16);
  expect(linesOf(await (await last).text()).at(-1)).toEqual(whole("Yes."));
});
