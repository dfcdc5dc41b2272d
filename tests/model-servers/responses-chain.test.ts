import type { Response as ApiResponse, OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createResponsesEngine } from "../../src/model-engines/responses/engine.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { runThrough } from "./run-through.ts";

const MODEL = "antiphon-built-in";
const RUNS = 60;

const TOOLS: ModelRequest["tools"] = [
  {
    type: "function",
    name: "f",
    description: null,
    strict: false,
    parameters: { type: "object", properties: {} },
    output_schema: null,
  },
  { type: "custom", name: "c", format: { type: "text" } },
];

/** Any answer, as in scenario files. */
function anyAnswer(): fc.Arbitrary<readonly object[]> {
  const chunks = fc
    .array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 4 })
    .map((pieces) => ({ chunks: pieces }));
  const args = fc.record({ a: fc.string({ maxLength: 9 }), n: fc.integer() });
  const cite = { type: "url_citation", start_index: 0, end_index: 1, url: "https://example.com/a", title: "A" };
  const step = fc.oneof(
    chunks.map((text) => [{ text }]),
    chunks.map((text) => [{ text }, { annotation: cite }]),
    chunks.map((refusal) => [{ refusal }]),
    chunks.map((reasoning) => [{ reasoning }]),
    fc
      .array(fc.string({ minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 3 })
      .map((parts) => [{ reasoning_summary: parts }]),
    fc
      .constantFrom("commentary", "final_answer")
      .chain((phase) => chunks.map((text) => [{ message: { phase } }, { text }])),
    fc
      .tuple(args, fc.integer({ min: 1, max: 4 }))
      .map(([input, count]) => [{ call: { name: "f", arguments: input, chunks: count } }]),
    fc.string({ minLength: 1, maxLength: 20 }).map((input) => [{ custom_call: { name: "c", input, chunks: 2 } }]),
  );
  const end = fc.constantFrom<(readonly object[])[]>([], [{ finish: "length" }], [{ finish: "content_filter" }]);
  return fc
    .tuple(fc.array(step, { minLength: 1, maxLength: 5 }), end)
    .map(([steps, last]) => [...steps.flat(), ...last]);
}

const ANSWERS = fc.sample(anyAnswer(), RUNS);
const BROKE = [
  { text: "Hel" },
  { error: { status: 429, type: "rate_limit_error", code: "rate_limit_exceeded", message: "Slow." } },
];
const SCENARIO = JSON.stringify({
  scenarios: [
    ...ANSWERS.map((events, index) => ({ when: { input_contains: `<${index}>` }, events })),
    { when: { input_contains: "<breaks>" }, events: BROKE },
    { when: { input_contains: "<stops>" }, events: [{ text: "Hel" }, { finish: "none" }] },
  ],
});

/** What a response says, without what two servers name differently. */
function said({ output, usage, status, incomplete_details }: ApiResponse): unknown {
  return {
    output: output.map((item) => ({
      ...item,
      id: "",
      ...("encrypted_content" in item ? { encrypted_content: "" } : {}),
      ...("call_id" in item ? { call_id: "" } : {}),
    })),
    usage,
    status,
    incomplete_details,
  };
}

describe("a server of ours behind this engine", () => {
  let server: TestServer;
  let engine: ModelEngine;
  beforeAll(async () => {
    server = await startTestServer({ scenario: SCENARIO });
    engine = createResponsesEngine({
      baseUrl: `${server.url}/v1`,
      apiKey: server.apiKey,
      timeouts: { connectMs: 5000, idleMs: 30_000, totalMs: 60_000 },
      onWarning: (warning) => expect.fail(warning),
    });
  });
  afterAll(() => server.close());

  const askDirectly = async (input: string, members: object): Promise<ApiResponse> => {
    const reply = await server.post("/v1/responses", { model: MODEL, input, store: false, ...members });
    expect(reply.status).toBe(200);
    return await reply.json();
  };
  const requestOf = (content: string, changes: Partial<ModelRequest> = {}): ModelRequest =>
    aRequest({ model: MODEL, items: [{ type: "message", role: "user", content }], ...changes });

  test(`says what it says itself, whatever that is: ${RUNS} answers`, async () => {
    verifies("responses-engine.chain.says-the-same");
    for (const [index, answer] of ANSWERS.entries()) {
      const input = `<${index}>`;
      const direct = await askDirectly(input, { tools: TOOLS });
      const chained = await runThrough(engine, requestOf(input, { tools: TOOLS }));
      expect(said(chained), JSON.stringify(answer)).toEqual(said(direct));
    }
  });

  test("says what it says itself to plain requests, with log probabilities, formats and forced calls", async () => {
    verifies("responses-engine.chain.says-the-same");
    const schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    const format = { type: "json_schema", name: "answer", description: null, schema, strict: true } as const;
    const [f] = TOOLS;
    const cases: readonly (readonly [string, object, Partial<ModelRequest>])[] = [
      ["Count to 5", {}, {}],
      ["Hi", { reasoning: { effort: "high", summary: "auto" } }, { reasoning: { effort: "high", summary: "auto" } }],
      ["Hi", { include: ["message.output_text.logprobs"], top_logprobs: 2 }, { topLogprobs: 2 }],
      ["Give me a number", { text: { format } }, { text: { format, verbosity: "medium" } }],
      ["write 100 words", { max_output_tokens: 16 }, { maxOutputTokens: 16 }],
      [
        "Hi",
        { tools: TOOLS, tool_choice: { type: "function", name: "f" } },
        { tools: TOOLS, toolChoice: { type: "function", name: "f" } },
      ],
      [
        "Hi",
        { tools: TOOLS, tool_choice: { type: "custom", name: "c" } },
        { tools: TOOLS, toolChoice: { type: "custom", name: "c" } },
      ],
      ["Hi", { tools: [f], tool_choice: "required" }, { tools: f === undefined ? [] : [f], toolChoice: "required" }],
      [
        "Hi",
        { instructions: "Be kind.", temperature: 0.5, top_p: 0.5, user: "u" },
        { instructions: "Be kind.", temperature: 0.5, topP: 0.5, user: "u" },
      ],
    ];
    for (const [input, members, changes] of cases)
      expect(said(await runThrough(engine, requestOf(input, changes))), input).toEqual(
        said(await askDirectly(input, members)),
      );
  });

  test("gets back the reasoning that it sealed, in the next turn", async () => {
    verifies("responses-engine.reasoning.comes-back");
    const think: Partial<ModelRequest> = { reasoning: { effort: "low", summary: "auto" } };
    const first = await runThrough(engine, requestOf("Hi", think));
    const items: ContextItem[] = [
      { type: "message", role: "user", content: "Hi" },
      ...first.output.map(withServersText),
      { type: "message", role: "user", content: "And?" },
    ];
    const [reasoning] = first.output;
    expect(reasoning).toMatchObject({ type: "reasoning", encrypted_content: expect.stringContaining("rs_") });
    const second = await runThrough(engine, requestOf("", { ...think, items }));
    expect(second.status).toBe("completed");
    const forged = items.map((item) =>
      item.type === "reasoning" ? { ...item, encrypted_content: `${item.encrypted_content}x` } : item,
    );
    const warnings: string[] = [];
    const careful = createResponsesEngine({
      baseUrl: `${server.url}/v1`,
      apiKey: server.apiKey,
      timeouts: { connectMs: 5000, idleMs: 30_000, totalMs: 60_000 },
      onWarning: (warning) => warnings.push(warning),
    });
    expect((await runThrough(careful, requestOf("", { ...think, items: forged }))).status).toBe("completed");
    expect(warnings).toEqual(["the model server no longer reads reasoning that it encrypted; it was left out"]);
  });

  test("counts tokens, lists models, and tells its failures", async () => {
    verifies("responses-engine.counts.by-the-server");
    const { signal } = new AbortController();
    const request = requestOf("Count me", { tools: TOOLS, instructions: "Be kind." });
    const body = { model: MODEL, input: "Count me", tools: TOOLS, instructions: "Be kind." };
    const reply = await server.post("/v1/responses/input_tokens", body);
    const { input_tokens: tokens }: { input_tokens: number } = await reply.json();
    expect(await engine.countTokens(request, signal)).toEqual({ tokens, exact: true });
    expect(await engine.estimateTokens(request, signal)).toBe(tokens);
    expect(await engine.listModels(signal)).toContainEqual(expect.objectContaining({ id: MODEL }));
    const limited = { status: 429, type: "rate_limit_error", code: "rate_limit_exceeded", retry: "often" };
    await expect(runThrough(engine, requestOf("<breaks>"))).rejects.toMatchObject(limited);
    await expect(runThrough(engine, requestOf("<stops>"))).rejects.toBeInstanceOf(ModelError);
    const unknown = { status: 404, code: "model_not_found", param: "model" };
    await expect(runThrough(engine, { ...request, model: "nothing-like-it" })).rejects.toMatchObject({
      code: unknown.code,
    });
  });
});

/** The item as the context of the next turn has it: the seal is open. */
function withServersText(item: OutputItem): ContextItem {
  if (item.type !== "reasoning") return item;
  const { sealedText }: { sealedText: string } = JSON.parse((item.encrypted_content ?? "").slice(1));
  return { ...item, encrypted_content: sealedText };
}
