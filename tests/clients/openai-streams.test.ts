import { APIError } from "openai";
import type { ResponseCreateAndStreamParams } from "openai/lib/responses/ResponseStream";
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { collect, MODEL, startWithClient, WEATHER } from "./openai-client.ts";

/** One scenario for each kind of output of the engine. */
const SCENARIO = `
scenarios:
  - when: { input_contains: plain text }
    events: [{ text: One two three. }]
  - when: { input_contains: cited text }
    events:
      - text: See the page.
      - annotation: { type: url_citation, start_index: 4, end_index: 12, url: "https://example.com", title: Page }
  - when: { input_contains: text and refusal }
    events: [{ text: Part of it. }, { refusal: Not the rest. }]
  - when: { input_contains: refusal }
    events: [{ refusal: I would rather not. }]
  - when: { input_contains: raw reasoning }
    events: [{ reasoning: Let me think. }, { text: Thought. }]
  - when: { input_contains: summarised reasoning }
    events: [{ reasoning_summary: ["**First**", "**Second**"] }, { text: Thought. }]
  - when: { input_contains: two messages }
    events:
      - message: { phase: commentary }
      - text: I will look.
      - message: { phase: final_answer }
      - text: I have looked.
  - when: { input_contains: parallel calls }
    events:
      - text: Two at once.
      - call: { name: get_weather, call_id: call_a, arguments: { city: Paris }, chunks: 4 }
      - call: { name: get_weather, call_id: call_b, arguments: { city: Rome }, chunks: 1 }
  - when: { input_contains: custom call }
    events: [{ custom_call: { name: run_sql, call_id: call_c, input: "select 1", chunks: 3 } }]
  - when: { input_contains: everything }
    events:
      - reasoning_summary: ["**Planning**"]
      - message: { phase: commentary }
      - text: On it.
      - call: { name: get_weather, call_id: call_d, arguments: { city: Oslo } }
      - reasoning: One more.
      - custom_call: { name: run_sql, call_id: call_e, input: "select 2" }
      - text: Done.
  - when: { input_contains: cut short }
    events: [{ text: This is too }, { finish: length }]
  - when: { input_contains: cut in a call }
    events:
      - raw: { type: call_started, kind: function, callId: call_f, name: get_weather }
      - raw: { type: call_delta, text: '{"city":' }
      - finish: length
  - when: { input_contains: filtered }
    events: [{ text: This is }, { finish: content_filter }]
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
`;

const tools: ResponseCreateAndStreamParams["tools"] = [WEATHER, { type: "custom", name: "run_sql" }];

const { client } = await startWithClient(SCENARIO);

describe(`openai ${installedVersion("openai")}`, () => {
  const reasoned = { reasoning: { effort: "low", summary: "detailed" } } as const;
  test.each<[string, readonly string[], Partial<ResponseCreateAndStreamParams>?]>([
    ["plain text", ["message"]],
    ["plain text with log probabilities", ["message"], { include: ["message.output_text.logprobs"], top_logprobs: 2 }],
    ["cited text", ["message"]],
    ["refusal", ["message"]],
    ["text and refusal", ["message"]],
    ["raw reasoning", ["reasoning", "message"], reasoned],
    ["summarised reasoning", ["reasoning", "message"], reasoned],
    [
      "summarised reasoning, sealed",
      ["reasoning", "message"],
      { ...reasoned, include: ["reasoning.encrypted_content"] },
    ],
    ["two messages", ["message", "message"]],
    ["parallel calls", ["message", "function_call", "function_call"]],
    ["custom call", ["custom_tool_call"]],
    ["everything", ["reasoning", "message", "function_call", "reasoning", "custom_tool_call", "message"], reasoned],
    ["cut short", ["message"]],
    ["cut in a call", ["function_call"]],
    ["filtered", ["message"]],
  ])("responses.stream() accumulates %s", async (input, types, params = {}) => {
    verifies("responses.stream.node-helper-accepts");
    const stream = client.responses.stream({ model: MODEL, input, tools, ...params });
    const events = await collect(stream);
    const final = await stream.finalResponse();
    expect(final.output.map((item) => item.type)).toEqual(types);
    expect(outputText(events)).toBe(final.output_text);
    const stored = await client.responses.retrieve(final.id, { include: params.include ?? [] });
    expect(comparable(final)).toEqual(comparable(stored));
  });

  test("responses.stream() shows each delta with the text so far", async () => {
    const stream = client.responses.stream({ model: MODEL, input: "plain text" });
    const seen: string[] = [];
    stream.on("response.output_text.delta", ({ delta, snapshot }) => {
      expect(snapshot).toBe(seen.join("") + delta);
      seen.push(delta);
    });
    expect((await stream.finalResponse()).output_text).toBe("One two three.");
    expect(seen.length).toBeGreaterThan(1);
  });

  test("responses.stream() parses the arguments of parallel calls", async () => {
    const final = await client.responses.stream({ model: MODEL, input: "parallel calls", tools }).finalResponse();
    const calls = final.output.filter((item) => item.type === "function_call");
    expect(calls.map((item) => item.parsed_arguments)).toEqual([{ city: "Paris" }, { city: "Rome" }]);
    expect(calls.map((item) => item.call_id)).toEqual(["call_a", "call_b"]);
  });

  test("responses.stream() shows why an answer is incomplete", async () => {
    const details = async (input: string) =>
      (await client.responses.stream({ model: MODEL, input }).finalResponse()).incomplete_details;
    expect(await details("cut short")).toEqual({ reason: "max_output_tokens" });
    expect(await details("filtered")).toEqual({ reason: "content_filter" });
  });

  test("responses.stream() throws the error of a failed run after its text", async () => {
    const stream = client.responses.stream({ model: MODEL, input: "dies midway" });
    const words: string[] = [];
    let id = "";
    stream.on("response.created", ({ response }) => {
      id = response.id;
    });
    stream.on("response.output_text.delta", ({ delta }) => words.push(delta));
    const failure = await stream.finalResponse().then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ code: "server_error", type: "server_error" });
    expect(words.join("")).toBe("So far so");
    expect(await client.responses.retrieve(id)).toMatchObject({ status: "failed", error: { code: "server_error" } });
  });

  test("responses.parse() reads plain replies of every kind", async () => {
    for (const input of [
      "cited text",
      "refusal",
      "summarised reasoning",
      "parallel calls",
      "custom call",
      "filtered",
    ]) {
      const parsed = await client.responses.parse({ model: MODEL, input, tools, ...reasoned });
      expect(parsed.output.length).toBeGreaterThan(0);
    }
  });
});

function outputText(events: readonly ResponseStreamEvent[]): string {
  return events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
}

/** Sealed content differs each time, streams lack `billing`, and the SDK adds members of its own. */
function comparable(response: Response): unknown {
  const leftOut = new Set(["billing", "parsed", "parsed_arguments", "output_parsed", "_request_id"]);
  const text = JSON.stringify(response, (key, value: unknown) =>
    leftOut.has(key) ? undefined : key === "encrypted_content" ? "sealed" : value,
  );
  return JSON.parse(text);
}
