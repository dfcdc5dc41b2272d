import { describe, expect, test } from "vitest";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { verifies } from "../verifies.ts";
import {
  type Answer,
  chunks,
  delta,
  says,
  serveBehind,
  toolDelta,
  UPSTREAM_KEY,
  usageChunk,
} from "./behind-upstream.ts";
import { checkStreamLaws } from "./check-stream-laws.ts";
import { PIXEL, WAV } from "./media-samples.ts";
import { readResponse, readStream, withoutRandomParts } from "./read-stream.ts";

const parameters = {
  type: "object",
  properties: { a: { type: "integer" } },
  required: ["a"],
  additionalProperties: false,
};
const f = { type: "function", name: "f", description: "Does f.", strict: true, parameters };
const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
const message = (text: string): object => ({
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text }],
});

/** What the model server sends, and the resulting response. */
const ANSWERS: Readonly<Record<string, readonly [Answer, members: object, expected: object]>> = {
  "a text": [
    chunks(textChunk("Hel"), textChunk("lo"), lastChunk("stop")),
    {},
    { status: "completed", output: [message("Hello")] },
  ],
  "reasoning before a text": [
    chunks(
      delta({ reasoning_content: "Hm" }),
      delta({ reasoning_content: "m." }),
      textChunk("Yes."),
      lastChunk("stop"),
    ),
    {},
    {
      output: [
        { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hmm." }] },
        message("Yes."),
      ],
    },
  ],
  "reasoning as a summary, where one was asked for": [
    chunks(delta({ reasoning_content: "Hmm." }), textChunk("Yes."), lastChunk("stop")),
    { reasoning: { summary: "auto" } },
    { output: [{ type: "reasoning", summary: [{ type: "summary_text", text: "Hmm." }] }, message("Yes.")] },
  ],
  "reasoning in tags": [
    chunks(textChunk("<think>Hmm.</think>"), textChunk("Yes."), lastChunk("stop")),
    {},
    { output: [{ type: "reasoning", content: [{ type: "reasoning_text", text: "Hmm." }] }, message("Yes.")] },
  ],
  "calls whose parts interleave": [
    chunks(
      toolDelta(0, { id: "call_a", type: "function", function: { name: "f", arguments: "" } }),
      toolDelta(0, { function: { arguments: '{"a":' } }),
      toolDelta(1, { id: "call_b", type: "function", function: { name: "f", arguments: '{"a":2}' } }),
      toolDelta(0, { function: { arguments: "1}" } }),
      lastChunk("tool_calls"),
    ),
    { tools: [f] },
    {
      status: "completed",
      output: [
        { type: "function_call", call_id: "call_a", name: "f", arguments: '{"a":1}', status: "completed" },
        { type: "function_call", call_id: "call_b", name: "f", arguments: '{"a":2}', status: "completed" },
      ],
    },
  ],
  "a text before a call": [
    chunks(
      textChunk("Wait."),
      toolDelta(0, { id: "call_a", function: { name: "f", arguments: "{}" } }),
      lastChunk("tool_calls"),
    ),
    { tools: [f] },
    { output: [message("Wait."), { type: "function_call", call_id: "call_a" }] },
  ],
  usage: [
    chunks(
      textChunk("Hi"),
      lastChunk("stop"),
      usageChunk({
        prompt_tokens: 11,
        completion_tokens: 7,
        total_tokens: 18,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 3 },
      }),
    ),
    {},
    {
      usage: {
        input_tokens: 11,
        input_tokens_details: { cache_write_tokens: 0, cached_tokens: 5 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: 18,
      },
    },
  ],
  "log probabilities with many decimals": [
    chunks(
      {
        model: "m",
        choices: [
          {
            index: 0,
            delta: { content: "Hi" },
            logprobs: {
              content: [{ token: "Hi", logprob: -0.123456789, top_logprobs: [{ token: "Ho", logprob: -1.00000004 }] }],
            },
          },
        ],
      },
      lastChunk("stop"),
    ),
    { include: ["message.output_text.logprobs"], top_logprobs: 1 },
    {
      output: [{ content: [{ logprobs: [{ token: "Hi", logprob: -0.123457, top_logprobs: [{ logprob: -1 }] }] }] }],
    },
  ],
  "text after the finish reason, and invalid token counts": [
    chunks(
      textChunk("Hi"),
      lastChunk("stop"),
      textChunk(" and more"),
      usageChunk({ prompt_tokens: 1e308, completion_tokens: 1 }),
    ),
    {},
    { status: "completed", output: [message("Hi")], usage: { output_tokens: 1 } },
  ],
  "an answer cut by its length": [
    chunks(textChunk("Only so"), lastChunk("length")),
    {},
    {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ status: "incomplete", content: [{ text: "Only so" }] }],
    },
  ],
  "calls cut by its length": [
    chunks(
      toolDelta(0, { id: "call_a", type: "function", function: { name: "f", arguments: '{"a":1}' } }),
      toolDelta(1, { id: "call_b", type: "function", function: { name: "f", arguments: '{"a":' } }),
      lastChunk("length"),
    ),
    { tools: [f] },
    {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [
        { type: "function_call", call_id: "call_a", arguments: '{"a":1}', status: "completed" },
        { type: "function_call", call_id: "call_b", arguments: '{"a":', status: "incomplete" },
      ],
    },
  ],
  "an answer cut by a filter": [
    chunks(textChunk("Only so"), lastChunk("content_filter")),
    {},
    { status: "incomplete", incomplete_details: { reason: "content_filter" } },
  ],
  "an answer that breaks off": [
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify(textChunk("Only so"))}\n\n`);
    },
    {},
    {
      status: "failed",
      error: { code: "server_error" },
      output: [{ status: "incomplete", content: [{ text: "Only so" }] }],
      usage: null,
    },
  ],
  "an error in mid-stream": [
    chunks(textChunk("Only so"), { error: { message: "Overloaded.", type: "server_error", code: 503 } }),
    {},
    { status: "failed", error: { code: "server_error" } },
  ],
};

/** Members of a create request, and the resulting request to the model server. */
const ASKED: Readonly<Record<string, readonly [members: object, asked: object]>> = {
  "a stream with token counts, always": [{}, { model: "m", stream: true, stream_options: { include_usage: true } }],
  "instructions ahead of everything": [
    {
      instructions: "Be brief.",
      input: [
        { role: "developer", content: "Be kind." },
        { role: "user", content: "Hi" },
      ],
    },
    {
      messages: [
        { role: "system", content: "Be brief.\n\nBe kind." },
        { role: "user", content: "Hi" },
      ],
    },
  ],
  "images and files": [
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "See" },
            { type: "input_image", image_url: PIXEL, detail: "low" },
            { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,SGk=" },
            { type: "input_audio", input_audio: { data: WAV, format: "wav" } },
          ],
        },
      ],
    },
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See" },
            { type: "image_url", image_url: { url: PIXEL, detail: "low" } },
            { type: "text", text: "File a.txt:\nHi" },
            { type: "input_audio", input_audio: { data: WAV, format: "wav" } },
          ],
        },
      ],
    },
  ],
  "a schema": [
    { text: { format: { type: "json_schema", name: "answer", strict: true, schema } } },
    { response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } } },
  ],
  json_object: [
    { input: "JSON please", text: { format: { type: "json_object" } } },
    { response_format: { type: "json_object" } },
  ],
  "tools and a forced one": [
    { tools: [f], tool_choice: { type: "function", name: "f" }, parallel_tool_calls: false },
    {
      tools: [{ type: "function", function: { name: "f", description: "Does f.", strict: true, parameters } }],
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
    },
  ],
  "calls and their outputs": [
    {
      input: [
        { role: "user", content: "Hi" },
        { type: "function_call", call_id: "call_a", name: "f", arguments: '{"a":1}' },
        { type: "function_call_output", call_id: "call_a", output: "one" },
      ],
    },
    {
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          tool_calls: [{ id: "call_a", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
        },
        { role: "tool", tool_call_id: "call_a", content: "one" },
      ],
    },
  ],
  "limits and sampling": [
    { max_output_tokens: 99, temperature: 0.5, top_p: 0.25, reasoning: { effort: "low" } },
    { max_tokens: 99, temperature: 0.5, top_p: 0.25, reasoning_effort: "low" },
  ],
};

describe("in front of a chat-completions server", () => {
  verifies(
    "chat-engine.finish.stop-completes",
    "chat-engine.finish.length-is-incomplete",
    "chat-engine.finish.filter-is-incomplete",
  );
  verifies(
    "chat-engine.finish.missing-is-a-failure",
    "chat-engine.errors.failed-event-after",
    "chat-engine.text.reasoning-kept-apart",
  );
  verifies(
    "chat-engine.tools.parallel-deltas",
    "chat-engine.tools.text-and-call",
    "chat-engine.tools.cut-call-is-incomplete",
    "chat-engine.usage.insane-counts-ignored",
    "create.include.logprobs-rounded",
    "chat-engine.upstream.asks-for-usage",
  );
  test.each(Object.entries(ANSWERS))(
    "a response is made of %s, plain and streamed alike",
    async (_title, [answer, members, expected]) => {
      const { server, create } = await serveBehind(answer);
      const plain = await readResponse(await create(members));
      expect(plain).toMatchObject(expected);
      const stream = await readStream(await create({ ...members, stream: true }));
      checkStreamLaws(stream);
      expect(withoutRandomParts({ ...stream.final, billing: { payer: "developer" } })).toEqual(
        withoutRandomParts(plain),
      );
      const fetched = await readResponse(await server.fetch(`/v1/responses/${stream.final.id}`));
      expect(fetched).toEqual({ ...stream.final, billing: { payer: "developer" } });
    },
  );

  verifies(
    "chat-engine.upstream.always-streams",
    "chat-engine.upstream.system-messages-merge",
    "chat-engine.upstream.images-and-files-map",
  );
  verifies(
    "chat-engine.upstream.tool-history-maps",
    "chat-engine.upstream.json-schema-maps",
    "create.reasoning.effort-honoured-or-refused",
  );
  test.each(Object.entries(ASKED))("the model server gets a request for %s", async (_title, [members, asked]) => {
    const behind = await serveBehind(says("{}"), { MODEL_INPUT: "text,image,audio" });
    expect((await behind.create(members)).status).toBe(200);
    expect(behind.asked()).toMatchObject(asked);
    expect(behind.upstream.calls[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${UPSTREAM_KEY}` },
    });
  });

  test("the list of models is the model server's", async () => {
    const list = { object: "list", data: [{ id: "m", object: "model", created: 5, owned_by: "us" }] };
    const { server } = await serveBehind((response) => response.end(JSON.stringify(list)));
    expect(await (await server.fetch("/v1/models")).json()).toMatchObject(list);
    expect(await (await server.fetch("/v1/models/m")).json()).toMatchObject({ id: "m", object: "model" });
  });
});
