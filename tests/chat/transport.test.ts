import { readUIMessageStream, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { AntiphonChatTransport } from "../../packages/client/src/chat/index.ts";
import { Antiphon, type Fetch } from "../../packages/client/src/index.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { serveWrittenModel } from "./reloaded-model.ts";

const SCENARIO = `
scenarios:
  - when: { input_contains: cited }
    events:
      - reasoning_summary: ["**One**", "**Two**"]
      - text: See the page.
      - annotation: { type: url_citation, start_index: 4, end_index: 12, url: "https://example.com", title: Page }
  - when: { input_contains: both cities, has_tool_output: false }
    events:
      - call: { name: get_weather, call_id: call_1, arguments: { city: Paris }, chunks: 3 }
      - call: { name: get_weather, call_id: call_2, arguments: "{not json" }
  - when: { input_contains: second, turn: 2 }
    events: [{ text: The second answer. }]
  - when: { input_contains: too long }
    events: [{ text: This is too }, { finish: length }]
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
`;

async function serve(fetch?: Fetch) {
  const server = await startTestServer({ scenario: SCENARIO });
  const client = new Antiphon({
    baseUrl: server.url,
    apiKey: server.apiKey,
    ...(fetch === undefined ? {} : { fetch }),
  });
  const transport = new AntiphonChatTransport({ client, request: { model: "antiphon-built-in" } });
  return { server, transport };
}

/** More than the first event, without which nobody knows the id of the response. */
const CUT_BYTES = 2600;

type Transport = AntiphonChatTransport;

function question(text: string): UIMessage {
  return { id: `asks ${text}`, role: "user", parts: [{ type: "text", text }] };
}

function send(transport: Transport, messages: UIMessage[]) {
  return transport.sendMessages({
    trigger: "submit-message",
    chatId: "chat",
    messageId: undefined,
    messages,
    abortSignal: undefined,
  });
}

/** The message that a stream gives in the end, and the errors in it. */
async function read(stream: Awaited<ReturnType<Transport["reconnectToStream"]>>) {
  if (stream === null) throw new Error("There is no stream.");
  const errors: string[] = [];
  const onError = (error: unknown): void => void errors.push(error instanceof Error ? error.message : String(error));
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, onError })) last = message;
  return { message: last, errors };
}

test("reasoning, text and sources become parts, and the next question continues the response", async () => {
  const { transport } = await serve();
  const { message } = await read(await send(transport, [question("cited")]));
  expect(message).toMatchObject({
    id: expect.stringMatching(/^resp_/),
    metadata: { responseId: message?.id, model: "antiphon-built-in" },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "**One**", state: "done" },
      { type: "reasoning", text: "**Two**", state: "done" },
      { type: "text", text: "See the page.", state: "done" },
      { type: "source-url", url: "https://example.com", title: "Page" },
    ],
  });
  if (message === undefined) throw new Error("There is no message.");
  const next = await read(await send(transport, [question("cited"), message, question("second")]));
  expect(next.message?.parts.at(-1)).toMatchObject({ text: "The second answer." });
});

test("calls of functions become tool parts, also with arguments that are no JSON", async () => {
  const { transport } = await serve();
  const { message } = await read(await send(transport, [question("both cities")]));
  expect(message?.parts.slice(1)).toMatchObject([
    { type: "tool-get_weather", toolCallId: "call_1", state: "input-available", input: { city: "Paris" } },
    { type: "tool-get_weather", toolCallId: "call_2", state: "output-error", errorText: expect.stringMatching(/JSON/) },
  ]);
});

test("an answer that was cut and one that failed say so", async () => {
  const { transport } = await serve();
  const finishes: unknown[] = [];
  for await (const chunk of await send(transport, [question("too long")]))
    if (chunk.type === "finish") finishes.push(chunk.finishReason);
  expect(finishes).toEqual(["length"]);
  const failed = await read(await send(transport, [question("dies midway")]));
  expect(failed.errors).toEqual(["The model broke off."]);
  expect(failed.message?.parts.at(-1)).toMatchObject({ text: "So far so" });
});

test("a connection that breaks again and again loses and doubles nothing", async () => {
  verifies("client.chat.survives-a-reload");
  const whole = await serve();
  const { message } = await read(await send(whole.transport, [question("cited")]));
  let calls = 0;
  const { transport } = await serve(async (url, init) => {
    calls += 1;
    const reply = await globalThis.fetch(url, init);
    return calls > 5 || reply.body === null ? reply : new Response(cutAfter(reply.body, CUT_BYTES), reply);
  });
  const broken = await read(await send(transport, [question("cited")]));
  expect(broken.errors).toEqual([]);
  expect(calls).toBeGreaterThan(2);
  expect(broken.message?.parts.map(withoutIds)).toEqual(message?.parts.map(withoutIds));
});

test("a response is taken up from its beginning, and without one there is none", async () => {
  const { transport } = await serve();
  const none = await transport.reconnectToStream({ chatId: "chat" });
  expect([none, transport.messagesOf("chat")]).toEqual([null, []]);
  const { message } = await read(await send(transport, [question("cited")]));
  expect(transport.messagesOf("chat")).toEqual([question("cited")]);
  expect((await read(await transport.reconnectToStream({ chatId: "chat" }))).message).toEqual(message);
  transport.forget("chat");
  expect(await transport.reconnectToStream({ chatId: "chat" })).toBeNull();
});

test("a second page shows the response that the first one still reads", async () => {
  verifies("client.chat.survives-a-reload");
  const storage = new Map<string, string>();
  const shared = {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => void storage.set(key, value),
    removeItem: (key: string) => void storage.delete(key),
  };
  const { server, call } = await serveWrittenModel();
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const open = () => new AntiphonChatTransport({ client, request: { model: "m" }, storage: shared });
  const first = read(await send(open(), [question("Count")]));
  const model = await call(0);
  model.say("One, ");
  const second = open();
  await expect.poll(() => second.messagesOf("chat")).toEqual([question("Count")]);
  const also = read(await second.reconnectToStream({ chatId: "chat" }));
  model.say("two.");
  model.finish("stop");
  expect((await also).message?.parts).toMatchObject([{ type: "step-start" }, { type: "text", text: "One, two." }]);
  expect(await also).toEqual(await first);
});

test("a response that was deleted meanwhile is told, and the chat goes on without it", async () => {
  verifies("client.chat.survives-a-reload");
  const { server, transport } = await serve();
  const { message } = await read(await send(transport, [question("cited")]));
  if (message === undefined) throw new Error("There is no message.");
  expect((await server.fetch(`/v1/responses/${message.id}`, { method: "DELETE" })).status).toBe(200);
  const gone = await read(await transport.reconnectToStream({ chatId: "chat" }));
  expect(gone.errors).toEqual([expect.stringContaining("not found")]);
  expect(transport.messagesOf("chat")).toEqual([question("cited")]);
  const next = await read(await send(transport, [question("cited"), message, question("second")]));
  expect(next.errors).toEqual([]);
  const asked = await server.fetch(`/v1/responses/${next.message?.id}/input_items?order=asc`);
  expect(await asked.json()).toMatchObject({
    data: [
      { role: "user", content: [{ text: "cited" }] },
      { role: "assistant", content: [{ text: "See the page." }] },
      { role: "user", content: [{ text: "second" }] },
    ],
  });
});

test("calls and their outputs are sent again if the response that made them was deleted", async () => {
  const { server, transport } = await serve();
  const { message } = await read(await send(transport, [question("both cities")]));
  if (message === undefined) throw new Error("There is no message.");
  await server.fetch(`/v1/responses/${message.id}`, { method: "DELETE" });
  const parts = message.parts.map((part) =>
    "toolCallId" in part ? { ...part, state: "output-available" as const, output: "Rain." } : part,
  );
  const answered: UIMessage = JSON.parse(JSON.stringify({ ...message, parts }));
  const next = await read(await send(transport, [question("both cities"), answered]));
  const { responseId } = Object(next.message?.metadata);
  const asked = await server.fetch(`/v1/responses/${responseId}/input_items?order=asc`);
  expect(await asked.json()).toMatchObject({
    data: [
      { role: "user" },
      { type: "function_call", call_id: "call_1", name: "get_weather", arguments: '{"city":"Paris"}' },
      { type: "function_call_output", call_id: "call_1", output: "Rain." },
      { type: "function_call", call_id: "call_2" },
      { type: "function_call_output", call_id: "call_2" },
    ],
  });
});

function withoutIds(part: UIMessage["parts"][number]): object {
  return Object.fromEntries(Object.entries(part).filter(([name]) => name !== "id" && name !== "sourceId"));
}

/** The first bytes of a body, and then a broken connection. */
function cutAfter(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        controller.enqueue(chunk.subarray(0, Math.max(0, left)));
        left -= chunk.byteLength;
        if (left <= 0) controller.error(new TypeError("The test has cut the connection."));
      },
    }),
  );
}
