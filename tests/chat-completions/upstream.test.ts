import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { PIXEL } from "../clients/tool-servers.ts";
import { readUntil, streamedData } from "../kit/event-stream.ts";
import { type BehindUpstream, COUNTS, chunks, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

const PIXEL_URL = `data:image/png;base64,${PIXEL}`;
const says = chunks(textChunk("Well done"), lastChunk("stop"), COUNTS);
const HELLO = { role: "user", content: "Hello" };

function post({ server }: Pick<BehindUpstream, "server">, body: object, signal: AbortSignal | null = null) {
  return server.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", messages: [HELLO], ...body }),
    signal,
  });
}

const WEATHER = {
  type: "function",
  function: { name: "weather", description: "Tells it.", parameters: { type: "object" } },
};

const OTHER = { ...WEATHER, function: { ...WEATHER.function, name: "other" } };

test.each<[string, object]>([
  ["sampling", { temperature: 0.3, top_p: 0.5, presence_penalty: 1, frequency_penalty: -1, max_tokens: 9, user: "u" }],
  ["seed, stop and bias", { seed: 7, stop: ["END"], logit_bias: { "50256": -100 } }],
  [
    "members of local engines",
    { top_k: 40, min_p: 0.1, options: { num_ctx: 4096 }, chat_template_kwargs: { a: true } },
  ],
  ["log probabilities", { logprobs: true, top_logprobs: 2 }],
  ["effort and verbosity", { reasoning_effort: "low", verbosity: "high" }],
  [
    "a schema",
    { response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" }, strict: false } } },
  ],
  ["functions", { tools: [WEATHER, OTHER], tool_choice: "required", parallel_tool_calls: false }],
  [
    "a conversation with calls",
    {
      messages: [
        { role: "system", content: "Be brief." },
        HELLO,
        {
          role: "assistant",
          content: "I look.",
          reasoning_content: "Hm.",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"a":1}' } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "Sun" },
        {
          role: "user",
          content: [
            { type: "text", text: "And here?" },
            { type: "image_url", image_url: { url: PIXEL_URL, detail: "low" } },
          ],
        },
      ],
      tools: [WEATHER],
    },
  ],
])("a model server gets the members that the client sent: %s", async (_, sent) => {
  verifies("chat.create.same-upstream");
  const behind = await serveBehind(says);
  expect((await post(behind, sent)).status).toBe(200);
  // The first call: a required tool that is not called is asked for again.
  const {
    stream,
    stream_options: options,
    parallel_tool_calls: parallel,
    ...asked
  } = memberOf(JSON.parse(behind.upstream.calls[0]?.body ?? "null"));
  expect([stream, options]).toEqual([true, { include_usage: true }]); // All turns are streams here.
  const {
    parallel_tool_calls: sentParallel = "tools" in sent ? true : undefined,
    ...expected
  }: Record<string, unknown> = { model: "m", messages: [HELLO], ...sent };
  expect(asked).toEqual(expected);
  expect(parallel).toBe(sentParallel);
});

function memberOf(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new Error("the model server got no object");
  return { ...value };
}

test("members that were sent on are named in a header", async () => {
  verifies("chat.create.unknown-members");
  const reply = await post(await serveBehind(says), { top_k: 4, seed: 1 });
  expect(reply.headers.get("x-antiphon-passed-on")).toBe("top_k, seed");
});

test("the reference's own hosts get only members that they know", async () => {
  const behind = await serveBehind(says, { MODEL_PROFILE: "openai" });
  const reply = await post(behind, { top_k: 4, seed: 1 });
  expect(memberOf(behind.asked())).toMatchObject({ seed: 1 });
  expect(behind.asked()).not.toHaveProperty("top_k");
  expect(reply.headers.get("x-antiphon-passed-on")).toBe("seed");
});

test.each([
  ["generic", "top_k, seed"],
  ["openai", "seed"],
])("a completion of a text names the members that a %s model server is sent", async (profile, names) => {
  const { server } = await serveBehind(says, { MODEL_PROFILE: profile });
  const reply = await server.post("/v1/completions", { model: "m", prompt: "Hi", top_k: 4, seed: 1 });
  expect(reply.headers.get("x-antiphon-passed-on")).toBe(names);
});

test("a model server that goes on after a stop sequence is left", async () => {
  verifies("chat.create.stop");
  const behind = await serveBehind((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(textChunk("one EN"), textChunk("D two"), textChunk(" three")));
  });
  const { choices } = JSON.parse(await (await post(behind, { stop: "END" })).text());
  expect(choices).toMatchObject([{ message: { content: "one " }, finish_reason: "stop" }]);
  await behind.upstream.calls[0]?.closed;
});

test("a model server's refusal is the reply, with the names of chat completions", async () => {
  verifies("chat.errors.before-the-stream");
  const behind = await serveBehind((response) => {
    response.writeHead(429, { "content-type": "application/json", "retry-after": "7" });
    response.end(
      JSON.stringify({ error: { message: "Slow down.", type: "rate_limit_error", code: "rate_limit_exceeded" } }),
    );
  });
  for (const stream of [false, true]) {
    const reply = await post(behind, { stream });
    expect(reply.status).toBe(429);
    expect(await reply.json()).toMatchObject({ error: { type: "rate_limit_error" } });
  }
});

test("a stream that fails ends with an error and without [DONE], and the SDK throws it", async () => {
  verifies("chat.errors.in-the-stream");
  const behind = await serveBehind(
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse(textChunk("Well"), { error: { message: "Broken.", type: "server_error" } }));
    },
    { MODEL_RETRIES: "0" },
  );
  const data: string[] = [];
  for await (const line of streamedData(await post(behind, { stream: true }))) data.push(line);
  expect(data).not.toContain("[DONE]");
  expect(JSON.parse(data.at(-1) ?? "")).toMatchObject({ error: { message: expect.any(String), type: "server_error" } });
  const client = new OpenAI({ baseURL: `${behind.server.url}/v1`, apiKey: behind.server.apiKey, maxRetries: 0 });
  const stream = await client.chat.completions.create({
    model: "m",
    messages: [{ role: "user", content: "Hi" }],
    stream: true,
  });
  await expect(Array.fromAsync(stream)).rejects.toThrow("model server");
});

test("a plain completion whose model fails is an error", async () => {
  const behind = await serveBehind(
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse(textChunk("Well"), { error: { message: "Broken.", type: "server_error" } }));
    },
    { MODEL_RETRIES: "0" },
  );
  const reply = await post(behind, {});
  expect(reply.status).toBe(500);
  expect(await reply.json()).toMatchObject({ error: { code: "server_error" } });
});

test("a client that leaves stops the model", async () => {
  verifies("chat.stream.disconnect-stops");
  const behind = await serveBehind((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(textChunk("Well")));
  });
  const leaving = new AbortController();
  const reply = await post(behind, { stream: true }, leaving.signal);
  await readUntil(reply, "Well");
  leaving.abort();
  await behind.upstream.calls[0]?.closed;
});

test.each<[string, object, string]>([
  ["no messages", { messages: [] }, "messages"],
  ["a message without content", { messages: [{ role: "user" }] }, "messages[0].content"],
  ["an unknown role", { messages: [{ role: "robot", content: "Hi" }] }, "messages[0].role"],
  ["a temperature out of range", { temperature: 3 }, "temperature"],
  ["too many answers", { n: 9 }, "n"],
  ["sound without a voice", { modalities: ["text", "audio"] }, "audio"],
  ["sound in another format", { modalities: ["audio"], audio: { voice: "alloy", format: "flac" } }, "audio.format"],
  ["an unknown voice", { modalities: ["audio"], audio: { voice: "nobody", format: "wav" } }, "audio.voice"],
  ["several spoken answers", { modalities: ["audio"], audio: { voice: "alloy", format: "wav" }, n: 2 }, "n"],
  [
    "the sound of another server",
    { messages: [HELLO, { role: "assistant", audio: { id: "audio_abc" } }, HELLO] },
    "messages[1].audio.id",
  ],
  ["several answers with a search", { n: 2, web_search_options: {} }, "n"],
  ["several stored answers", { n: 2, store: true }, "n"],
  [
    "an MCP server that asks",
    { tools: [{ type: "mcp", server_label: "a", server_url: "https://example.com" }] },
    "tools[0].require_approval",
  ],
  [
    "an output without its call",
    { messages: [HELLO, { role: "tool", tool_call_id: "call_9", content: "x" }] },
    "messages",
  ],
])("refuses %s", async (_, body, param) => {
  verifies("chat.errors.names-the-member");
  const reply = await post(await serveBehind(says), body);
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
});

test("with FACES_STORE=all a completion is a response for the inspector, and in no list of completions", async () => {
  verifies("chat.stored.only-asked-for");
  const behind = await serveBehind(says, { FACES_STORE: "all" });
  const id = (await post(behind, {})).headers.get("x-antiphon-response-id");
  expect((await behind.server.fetch(`/v1/responses/${id}`)).status).toBe(200);
  expect(await (await behind.server.fetch("/v1/chat/completions")).json()).toMatchObject({ data: [] });
});

test("a conversation goes on by the other door, and the model is shown the same items", async () => {
  verifies("chat.stored.continues-as-response");
  const behind = await serveBehind(says);
  const id = (
    await post(behind, { store: true, messages: [{ role: "system", content: "Be brief." }, HELLO] })
  ).headers.get("x-antiphon-response-id");
  await behind.create({ input: "More", previous_response_id: id });
  const byResponse = memberOf(behind.asked())["messages"];
  const answer = { role: "assistant", content: "Well done" };
  await post(behind, {
    messages: [{ role: "system", content: "Be brief." }, HELLO, answer, { role: "user", content: "More" }],
  });
  expect(memberOf(behind.asked())["messages"]).toEqual(byResponse);
});

test("the ledger lists all members of the contract, and no other", () => {
  const specs = join(import.meta.dirname, "../../specs");
  const ledger: Record<string, { treatment: string }> = parse(readFileSync(join(specs, "chat-ledger.yaml"), "utf8"));
  const schemas: Record<string, { properties: object }> = parse(readFileSync(join(specs, "schemas/chat.yaml"), "utf8"));
  const members = Object.keys(schemas["CreateChatCompletionRequest"]?.properties ?? {});
  const listed = new Set(Object.keys(ledger).map((path) => path.split(".")[0] ?? ""));
  expect([...listed].toSorted()).toEqual(members.toSorted());
  const words = new Set(Object.values(ledger).map(({ treatment }) => treatment));
  expect([...words].toSorted()).toEqual(["emulated", "honoured", "passed", "refused"]);
});
