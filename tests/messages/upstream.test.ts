import { readFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { isRecord } from "@antiphon/base/json/records.ts";
import { lintText } from "@antiphon/stream-grammar/index.ts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { PIXEL } from "../clients/tool-servers.ts";
import { readUntil } from "../kit/event-stream.ts";
import { type Answer, type BehindUpstream, COUNTS, chunks, delta, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

const says = chunks(textChunk("Well done"), lastChunk("stop"), COUNTS);
const HELLO = { role: "user", content: "Hello" };

function post({ server }: Pick<BehindUpstream, "server">, body: object, path = "/v1/messages", signal?: AbortSignal) {
  return server.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", "anthropic-beta": "a-2027,b" },
    body: JSON.stringify({ model: "claude-test", max_tokens: 100, messages: [HELLO], ...body }),
    signal: signal ?? null,
  });
}

function clientOf({ server }: Pick<BehindUpstream, "server">): Anthropic {
  return new Anthropic({ baseURL: server.url, apiKey: server.apiKey, maxRetries: 0 });
}

function asked(behind: BehindUpstream): Record<string, unknown> {
  const body = behind.asked();
  if (!isRecord(body)) throw new Error("the model server got no object");
  return { ...body };
}

const WEATHER = {
  name: "weather",
  description: "Tells it.",
  input_schema: { $schema: "x", type: "object", properties: {} },
};
const UPSTREAM_WEATHER = {
  type: "function",
  function: { name: "weather", description: "Tells it.", parameters: { type: "object", properties: {} } },
};

test.each<[string, object, object]>([
  [
    "a system text",
    { system: "Be brief." },
    { messages: [{ role: "system", content: "Be brief." }, HELLO], max_tokens: 100 },
  ],
  [
    "blocks of a system text without the billing line",
    {
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.330.abc;" },
        { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
        { type: "text", text: "Be kind." },
      ],
    },
    { messages: [{ role: "system", content: "Be brief.\n\nBe kind." }, HELLO] },
  ],
  [
    "a billing line at the beginning of a text",
    { system: "x-anthropic-billing-header: a\nBe brief." },
    { messages: [{ role: "system", content: "Be brief." }, HELLO] },
  ],
  ["sampling", { temperature: 0.3, top_p: 0.5, top_k: 7 }, { temperature: 0.3, top_p: 0.5, top_k: 7 }],
  ["no stop sequences, which this server looks for", { stop_sequences: ["END"] }, { messages: [HELLO] }],
  ["the effort of a budget", { thinking: { type: "enabled", budget_tokens: 2048 } }, { reasoning_effort: "low" }],
  [
    "the effort of the output",
    { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    { reasoning_effort: "high" },
  ],
  ["no thinking", { thinking: { type: "disabled" } }, { reasoning_effort: "none" }],
  [
    "a schema",
    {
      output_config: {
        format: {
          type: "json_schema",
          schema: { type: "object", properties: {}, required: [], additionalProperties: false },
        },
      },
    },
    { response_format: { type: "json_schema", json_schema: { name: "answer", strict: true } } },
  ],
  [
    "tools, and that one has to be called",
    {
      tools: [WEATHER, { ...WEATHER, name: "other", type: "custom" }],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    },
    {
      tools: [UPSTREAM_WEATHER, { ...UPSTREAM_WEATHER, function: { ...UPSTREAM_WEATHER.function, name: "other" } }],
      tool_choice: "required",
      parallel_tool_calls: false,
    },
  ],
  [
    "the published schema of a tool that clients run",
    { tools: [{ type: "bash_20250124", name: "bash" }] },
    {
      tools: [
        { type: "function", function: { name: "bash", parameters: { properties: { command: { type: "string" } } } } },
      ],
    },
  ],
  [
    "a deferred tool only after a search of the client found it",
    {
      tools: [
        WEATHER,
        { ...WEATHER, name: "later", defer_loading: true },
        { ...WEATHER, name: "found", defer_loading: true },
      ],
      messages: [
        HELLO,
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "call_1", name: "weather", input: { a: 1 }, caller: { type: "direct" } }],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_1", content: [{ type: "tool_reference", tool_name: "found" }] },
            { type: "text", text: "Go on." },
          ],
        },
      ],
    },
    {
      tools: [UPSTREAM_WEATHER, { ...UPSTREAM_WEATHER, function: { ...UPSTREAM_WEATHER.function, name: "found" } }],
      messages: [
        HELLO,
        {
          role: "assistant",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"a":1}' } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "The tool found can be called now." },
        { role: "user", content: "Go on." },
      ],
    },
  ],
  [
    "a failed call, a picture, a document and instructions in their places",
    {
      tools: [WEATHER],
      messages: [
        HELLO,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "of another server" },
            { type: "redacted_thinking", data: "of another server" },
            { type: "text", text: "I look.", citations: null },
            { type: "tool_use", id: "call_1", name: "weather", input: {} },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "No sun", is_error: true }] },
        { role: "system", content: "Now be kind." },
        {
          role: "user",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
            { type: "document", source: { type: "text", media_type: "text/plain", data: "Herons." }, title: "Birds" },
            {
              type: "search_result",
              source: "https://example.com",
              title: "Owls",
              content: [{ type: "text", text: "Night." }],
            },
          ],
        },
      ],
    },
    {
      messages: [
        HELLO,
        {
          role: "assistant",
          content: "I look.",
          reasoning_content: "Hm.",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "Error: No sun" },
        { role: "system", content: "Now be kind." },
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
            { type: "text", text: "Birds" },
            { type: "text", text: "Herons." },
            { type: "text", text: "Owls (https://example.com)\nNight." },
          ],
        },
      ],
    },
  ],
  [
    "a picture among the outputs of a call",
    {
      tools: [WEATHER],
      messages: [
        HELLO,
        { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "weather", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "call_1",
              content: [
                { type: "text", text: "Seen:" },
                { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
              ],
            },
          ],
        },
      ],
    },
    {
      messages: [
        HELLO,
        { role: "assistant", tool_calls: [{ id: "call_1" }] },
        { role: "tool", tool_call_id: "call_1", content: expect.stringContaining("Seen:") },
        {
          role: "user",
          content: expect.arrayContaining([
            expect.objectContaining({ image_url: { url: `data:image/png;base64,${PIXEL}` } }),
          ]),
        },
      ],
    },
  ],
  [
    "the summary of a compaction in place of what was said before",
    {
      messages: [
        HELLO,
        { role: "assistant", content: [{ type: "compaction", content: "They met." }] },
        { role: "user", content: "More" },
      ],
    },
    {
      messages: [
        { role: "system", content: "Summary of the conversation so far:\nThey met." },
        { role: "user", content: "More" },
      ],
    },
  ],
])("a model server gets what a message request says: %s", async (_, sent, expected) => {
  verifies("messages.create.upstream");
  const behind = await serveBehind(says, { MODEL_PROFILE: "generic" });
  const reply = await post(behind, sent);
  expect(await reply.text()).toContain("Well done");
  expect(JSON.parse(behind.upstream.calls[0]?.body ?? "null")).toMatchObject({ model: "claude-test", ...expected });
  if (!JSON.stringify(expected).includes("stop")) expect(asked(behind)).not.toHaveProperty("stop");
});

test("members and betas that nobody knows fail no request", async () => {
  verifies("messages.create.unknown-members");
  const behind = await serveBehind(says);
  const reply = await post(
    behind,
    {
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      metadata: { user_id: JSON.stringify({ device_id: "d".repeat(64), session_id: "s" }) },
      diagnostics: {},
      unheard_of: 1,
    },
    "/v1/messages?beta=true",
  );
  expect(reply.status).toBe(200);
  expect(reply.headers.get("request-id")).toBe(reply.headers.get("x-request-id"));
});

test("a member that is sent on is named in a header", async () => {
  verifies("messages.create.unknown-members");
  const reply = await post(await serveBehind(says), { top_k: 4 });
  expect(reply.headers.get("x-antiphon-passed-on")).toBe("top_k");
});

test("the answer has the model as asked, all members of both versions, and the counts of the model server", async () => {
  verifies("messages.create.answers");
  const reply = await post(await serveBehind(says), {});
  const responseId = reply.headers.get("x-antiphon-response-id") ?? "";
  expect(await reply.json()).toEqual({
    id: responseId.replace("resp_", "msg_"),
    type: "message",
    role: "assistant",
    model: "claude-test",
    content: [{ type: "text", text: "Well done", citations: null }],
    stop_reason: "end_turn",
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 10,
      output_tokens: 5,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
      output_tokens_details: { thinking_tokens: 0 },
      server_tool_use: null,
      service_tier: "standard",
      inference_geo: null,
      speed: null,
    },
  });
});

test.each([
  ["END", "one ", "stop_sequence", "END"],
  ["FIN", "one END two", "end_turn", null],
])("an answer says at which stop sequence it ended: %s", async (stop, text, reason, sequence) => {
  verifies("messages.create.stop");
  const behind = await serveBehind(chunks(textChunk("one EN"), textChunk("D two"), lastChunk("stop")));
  const wish = { stop_sequences: [stop, "OTHER"] };
  expect(await (await post(behind, wish)).json()).toMatchObject({
    content: [{ text }],
    stop_reason: reason,
    stop_sequence: sequence,
  });
  const streamed = await clientOf(behind)
    .messages.stream({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }], ...wish })
    .finalMessage();
  expect(streamed).toMatchObject({ content: [{ text }], stop_reason: reason, stop_sequence: sequence });
});

test.each<[string, unknown, object]>([
  ["a limit of tokens", lastChunk("length"), { stop_reason: "max_tokens" }],
  ["a filter", lastChunk("content_filter"), { stop_reason: "refusal", stop_details: { type: "refusal" } }],
])("an answer tells that it ended at %s", async (_, last, expected) => {
  verifies("messages.create.stop");
  const behind = await serveBehind(chunks(textChunk("Well"), last));
  expect(await (await post(behind, {})).json()).toMatchObject({ content: [{ text: "Well" }], ...expected });
});

test("a stream begins with the input tokens and keeps to the grammar", async () => {
  verifies("messages.stream.grammar");
  const text = await (await post(await serveBehind(says), { stream: true })).text();
  expect(lintText(text)).toMatchObject([{ faults: [] }]);
  const start = JSON.parse(/^event: message_start\ndata: (.*)$/m.exec(text)?.[1] ?? "null");
  expect(start.message.usage.input_tokens).toBeGreaterThan(0);
  expect(text).toMatch(/event: message_stop\ndata: {"type":"message_stop"}\n\n$/);
});

test("in silence a stream sends pings", async () => {
  verifies("messages.stream.pings");
  const behind = await serveBehind(
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(textChunk("Well")));
    },
    { SSE_KEEP_ALIVE_MS: "50" },
  );
  const leaving = new AbortController();
  const reply = await post(behind, { stream: true }, "/v1/messages", leaving.signal);
  await readUntil(reply, 'event: ping\ndata: {"type":"ping"}\n\n');
  leaving.abort();
  await behind.upstream.calls[0]?.closed;
});

test("reasoning goes out with a signature, and comes back as what the model thought", async () => {
  verifies("messages.thinking.comes-back");
  const behind = await serveBehind(
    chunks(delta({ reasoning_content: "Hm." }), textChunk("Well done"), lastChunk("stop")),
  );
  for (const display of ["summarized", "omitted"]) {
    const thinking = { type: "adaptive", display };
    const { content } = JSON.parse(await (await post(behind, { thinking })).text());
    expect(content[0]).toMatchObject({ type: "thinking", thinking: display === "omitted" ? "" : "Hm." });
    expect(content[0].signature).not.toBe("");
    await post(behind, { messages: [HELLO, { role: "assistant", content }, { role: "user", content: "More" }] });
    expect(asked(behind)["messages"]).toEqual([
      HELLO,
      { role: "assistant", content: "Well done", reasoning_content: "Hm." },
      { role: "user", content: "More" },
    ]);
  }
});

test("a conversation goes on by the other door, and the model is shown the same items", async () => {
  verifies("messages.history.same-items");
  const call = { index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: '{"a":1}' } };
  const behind = await serveBehind(
    chunks(
      delta({ reasoning_content: "Hm." }),
      textChunk("I look."),
      delta({ tool_calls: [call] }),
      lastChunk("tool_calls"),
    ),
    { FACES_STORE: "all" },
  );
  const tools = [WEATHER];
  const first = await post(behind, { tools, system: "Be brief." });
  const { content } = JSON.parse(await first.text());
  await behind.create({
    input: [{ type: "function_call_output", call_id: "call_1", output: "Sun" }],
    instructions: "Be brief.",
    previous_response_id: first.headers.get("x-antiphon-response-id"),
  });
  const byResponse = asked(behind)["messages"];
  const results = [{ type: "tool_result", tool_use_id: "call_1", content: "Sun" }];
  await post(behind, {
    tools,
    system: "Be brief.",
    messages: [HELLO, { role: "assistant", content }, { role: "user", content: results }],
  });
  expect(asked(behind)["messages"]).toEqual(byResponse);
  const ofInspector = await behind.server.fetch(`/v1/responses/${first.headers.get("x-antiphon-response-id")}`);
  expect(ofInspector.status).toBe(200);
});

test("a message is not stored unless the operator says so", async () => {
  verifies("messages.create.storage");
  const behind = await serveBehind(says);
  const id = (await post(behind, {})).headers.get("x-antiphon-response-id");
  expect((await behind.server.fetch(`/v1/responses/${id}`)).status).toBe(404);
});

test("lists and metrics tell by which door a run came", async () => {
  verifies("faces.runs.seen");
  const behind = await serveBehind(says, { FACES_STORE: "all" });
  await post(behind, {});
  await behind.create();
  await behind.server.post("/v1/chat/completions", { model: "m", messages: [HELLO] });
  const { data } = await (await behind.server.fetch("/v1/responses?order=asc")).json();
  expect(data.map(({ face }: { face: unknown }) => face)).toEqual(["messages", null, "chat"]);
  const metrics = await (await fetch(`${behind.server.url}/metrics`)).text();
  for (const face of ["messages", "responses", "chat"])
    expect(metrics).toContain(`antiphon_runs_by_face_total{face="${face}"} 1`);
});

test("count_tokens counts what a message would send", async () => {
  verifies("messages.tokens.count");
  const behind = await serveBehind(says);
  const count = async (body: object): Promise<number> => {
    const reply = await post(behind, body, "/v1/messages/count_tokens");
    expect(reply.status).toBe(200);
    expect(reply.headers.get("x-token-count")).toBe("estimate");
    return JSON.parse(await reply.text()).input_tokens;
  };
  const few = await count({});
  expect(few).toBeGreaterThan(0);
  expect(await count({ tools: [WEATHER], system: "Be brief." })).toBeGreaterThan(few);
  expect(behind.upstream.calls.map(({ path }) => path)).not.toContain("/v1/chat/completions");
});

test.each<[string, object, RegExp]>([
  ["no max_tokens", { max_tokens: undefined }, /max_tokens/],
  ["no messages", { messages: [] }, /messages/],
  ["an unknown role", { messages: [{ role: "robot", content: "Hi" }] }, /^messages\.0\.role: /],
  ["an unknown block", { messages: [{ role: "user", content: [{ type: "smell" }] }] }, /^messages\.0\.content\.0/],
  ["an unknown tool", { tools: [{ type: "time_machine_20300101", name: "t" }] }, /time_machine_20300101/],
  [
    "a picture in an answer",
    {
      messages: [
        HELLO,
        { role: "assistant", content: [{ type: "image", source: { type: "url", url: "https://example.com/a.png" } }] },
      ],
    },
    /messages\.1\.content\.0/,
  ],
])("refuses %s", async (_, body, words) => {
  verifies("messages.errors.own-types");
  const reply = await post(await serveBehind(says), body);
  expect(reply.status).toBe(400);
  expect(await reply.json()).toEqual({
    type: "error",
    error: { type: "invalid_request_error", message: expect.stringMatching(words) },
    request_id: reply.headers.get("request-id"),
  });
});

test.each([
  { upstream: 429, error: { message: "Slow down.", type: "rate_limit_error" }, status: 429, type: "rate_limit_error" },
  { upstream: 404, error: { message: "No.", code: "model_not_found" }, status: 404, type: "not_found_error" },
  { upstream: 401, error: { message: "Bad key." }, status: 502, type: "api_error" },
  { upstream: 503, error: { message: "Busy." }, status: 529, type: "overloaded_error" },
])("a model server's refusal with $upstream is a $type", async ({ upstream, error, status, type }) => {
  verifies("messages.errors.own-types");
  const behind = await serveBehind(refusing(upstream, error), { MODEL_RETRIES: "0" });
  for (const stream of [false, true]) {
    const reply = await post(behind, { stream });
    expect(reply.status).toBe(status);
    expect(await reply.json()).toMatchObject({ type: "error", error: { type } });
  }
});

test("a prompt that is too long is told in the words that clients look for", async () => {
  verifies("messages.errors.own-types");
  const error = { message: "This model's maximum context length is 10 tokens.", code: "context_length_exceeded" };
  const reply = await post(await serveBehind(refusing(400, error)), {});
  expect([reply.status, await reply.json()]).toMatchObject([
    400,
    { error: { type: "invalid_request_error", message: expect.stringContaining("prompt is too long") } },
  ]);
});

function refusing(status: number, error: object): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error }));
  };
}

test("a wrong key, a wrong path and a wrong body are errors of messages, too", async () => {
  verifies("messages.errors.own-types");
  const { server } = await serveBehind(says);
  const init = { method: "POST", headers: { "content-type": "application/json", "x-api-key": "sk-wrong" }, body: "{}" };
  const reply = await fetch(`${server.url}/v1/messages`, init);
  expect(reply.status).toBe(401);
  expect(await reply.json()).toMatchObject({ type: "error", error: { type: "authentication_error" } });
  const unread = await server.fetch("/v1/messages", { method: "POST", headers: init.headers, body: "{" });
  expect(await unread.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  const absent = await server.fetch("/v1/messages/batches");
  expect([absent.status, await absent.json()]).toMatchObject([404, { error: { type: "not_found_error" } }]);
});

test("a stream that fails ends with an error event, which the SDK throws", async () => {
  verifies("messages.errors.in-the-stream");
  const behind = await serveBehind(
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse(textChunk("Well"), { error: { message: "Broken.", type: "server_error" } }));
    },
    { MODEL_RETRIES: "0" },
  );
  const text = await (await post(behind, { stream: true })).text();
  expect(text).toMatch(
    /event: error\ndata: {"type":"error","error":{"type":"api_error","message":"[^"]+"},"request_id":"req_/,
  );
  expect(text).not.toContain("message_stop");
  expect(lintText(text)).toMatchObject([{ faults: [] }]);
  const stream = clientOf(behind).messages.stream({
    model: "m",
    max_tokens: 9,
    messages: [{ role: "user", content: "Hi" }],
  });
  await expect(stream.finalMessage()).rejects.toMatchObject({ error: { error: { type: "api_error" } } });
  expect((await post(behind, {})).status).toBe(500);
});

test("a client that leaves stops the model", async () => {
  verifies("messages.stream.disconnect-stops");
  const behind = await serveBehind((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(textChunk("Well")));
  });
  const leaving = new AbortController();
  const reply = await post(behind, { stream: true }, "/v1/messages", leaving.signal);
  await readUntil(reply, "Well");
  leaving.abort();
  await behind.upstream.calls[0]?.closed;
});

test("the limit of a key holds, with its headers", async () => {
  verifies("messages.errors.own-types");
  const behind = await serveBehind(says, { RATE_LIMIT_REQUESTS_PER_MINUTE: "1" });
  const first = await post(behind, {});
  expect([first.status, first.headers.get("x-ratelimit-limit-requests")]).toEqual([200, "1"]);
  const limited = await post(behind, { stream: true });
  expect([limited.status, await limited.json()]).toMatchObject([429, { error: { type: "rate_limit_error" } }]);
  expect(limited.headers.get("retry-after")).not.toBeNull();
});

test("the ledger lists all members of the contract, and no other", () => {
  const specs = join(import.meta.dirname, "../../specs");
  const ledger: Record<string, object> = parse(readFileSync(join(specs, "messages-ledger.yaml"), "utf8"));
  const schemas: Record<string, { properties: object }> = parse(
    readFileSync(join(specs, "schemas/messages.yaml"), "utf8"),
  );
  const members = Object.keys(schemas["CreateMessageRequest"]?.properties ?? {});
  const listed = new Set(Object.keys(ledger).map((path) => path.split(".")[0] ?? ""));
  expect([...listed].toSorted()).toEqual(members.toSorted());
});
