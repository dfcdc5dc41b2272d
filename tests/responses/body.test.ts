import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL } from "./check-refusal.ts";
import { eventsOf, readResponse, readStream } from "./read-stream.ts";

/** The members of a finished plain body, in the reference's order. */
const MEMBERS = [
  "id object created_at status access_programs background billing completed_at error frequency_penalty",
  "incomplete_details instructions max_output_tokens max_tool_calls model moderation output",
  "parallel_tool_calls presence_penalty previous_response_id prompt_cache_key prompt_cache_retention",
  "reasoning safety_identifier service_tier store temperature text tool_choice tool_usage tools top_logprobs",
  "top_p truncation usage user metadata",
].flatMap((line) => line.split(" "));

const DEFAULTS = {
  object: "response",
  status: "completed",
  access_programs: null,
  background: false,
  billing: { payer: "developer" },
  error: null,
  frequency_penalty: 0,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: MODEL,
  moderation: null,
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { context: null, effort: null, summary: null },
  safety_identifier: null,
  service_tier: "default",
  store: true,
  temperature: 1,
  text: { format: { type: "text" }, verbosity: "medium" },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
  metadata: {},
};

const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const tool = { type: "function", name: "get_weather", parameters };
const echoedTool = { ...tool, description: null, output_schema: null, strict: true };
const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

/** What is sent, and what is echoed if that differs. */
const ECHOES: Readonly<Record<string, readonly [sent: object, echoed?: object]>> = {
  "sampling settings": [{ temperature: 0.5, top_p: 0.25, presence_penalty: 1.5, frequency_penalty: -1.5 }],
  limits: [{ max_output_tokens: 100, max_tool_calls: 3, parallel_tool_calls: false }],
  "how the prompt is cached": [
    { prompt_cache_options: { mode: "explicit", comparison_response_id: "resp_1", prewarm: true } },
    { prompt_cache_options: { mode: "explicit", ttl: "30m", comparison_response_id: "resp_1" } },
  ],
  "who asks": [{ user: "u", safety_identifier: "s", prompt_cache_key: "p", prompt_cache_retention: "24h" }],
  metadata: [{ metadata: { a: "1", b: "ü" } }],
  "a metadata of null": [{ metadata: null }, { metadata: {} }],
  instructions: [{ instructions: "Be brief." }],
  "store false": [{ store: false }],
  verbosity: [{ text: { verbosity: "low" } }, { text: { format: { type: "text" }, verbosity: "low" } }],
  "a schema with every default": [
    { text: { format: { type: "json_schema", name: "n", schema } } },
    {
      text: {
        format: { type: "json_schema", description: null, name: "n", schema, strict: true },
        verbosity: "medium",
      },
    },
  ],
  "a strict schema": [
    { text: { format: { type: "json_schema", name: "n", description: "D", schema, strict: true } } },
    {
      text: { format: { type: "json_schema", name: "n", description: "D", schema, strict: true }, verbosity: "medium" },
    },
  ],
  json_object: [
    { input: "Some JSON, please", text: { format: { type: "json_object" } } },
    { text: { format: { type: "json_object" }, verbosity: "medium" } },
  ],
  "an effort": [
    { reasoning: { effort: "low" } },
    { reasoning: { context: "current_turn", effort: "low", summary: null } },
  ],
  "a reasoning without members": [{ reasoning: {} }, { reasoning: { context: null, effort: null, summary: null } }],
  "a context that is left to the server": [
    { reasoning: { context: "auto" } },
    { reasoning: { context: "current_turn", effort: null, summary: null } },
  ],
  "the mode pro": [
    { reasoning: { mode: "pro", context: "all_turns" } },
    { reasoning: { context: "all_turns", effort: null, mode: "pro", summary: null } },
  ],
  "the kind of summary that auto leads to": [
    { reasoning: { summary: "auto" } },
    { reasoning: { context: "current_turn", effort: null, summary: "detailed" } },
  ],
  "a tool with every default": [{ tools: [tool] }, { tools: [echoedTool] }],
  "a tool with nothing left out": [
    { tools: [{ ...tool, description: "D", strict: false }] },
    { tools: [{ ...echoedTool, description: "D", strict: false }] },
  ],
  "a custom tool": [
    { tools: [{ type: "custom", name: "c" }] },
    { tools: [{ type: "custom", name: "c", format: { type: "text" } }] },
  ],
  "the service tier priority": [{ service_tier: "priority" }],
  "the service tier flex": [{ service_tier: "flex" }],
  "the service tier fast": [{ service_tier: "fast" }, { service_tier: "priority" }],
  "the service tier default": [{ service_tier: "default" }],
  "tool_choice none": [{ tools: [tool], tool_choice: "none" }, { tool_choice: "none" }],
  "tool_choice required": [{ tools: [tool], tool_choice: "required" }, { tool_choice: "required" }],
  "a forced tool": [
    { tools: [tool], tool_choice: { type: "function", name: "get_weather" } },
    { tool_choice: { type: "function", name: "get_weather" } },
  ],
  "allowed tools": [
    {
      tools: [tool],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "get_weather" }] },
    },
    { tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "get_weather" }] } },
  ],
};

describe("the body of a response", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const create = async (members: object): Promise<ResponseBody> =>
    readResponse(await server.post("/v1/responses", { model: MODEL, input: "Hi", ...members }));

  test("has exactly the reference's members in the reference's order, including null ones", async () => {
    verifies(
      "response.body.golden-key-set",
      "response.body.conversation-and-prompt-absent",
      "create.reasoning.echo-null-form",
    );
    const body = await create({});
    expect(Object.keys(body)).toEqual(MEMBERS);
    expect(body).toMatchObject(DEFAULTS);
  });

  test("has the same members without billing in the events of a stream", async () => {
    verifies("response.body.billing-only-in-finished-plain-bodies", "response.body.service-tier-after-completion");
    const stream = await readStream(await server.post("/v1/responses", { model: MODEL, input: "Hi", stream: true }));
    const members = MEMBERS.filter((name) => name !== "billing");
    const [created] = eventsOf(stream, "response.created");
    expect(Object.keys(created?.response ?? {})).toEqual(members);
    expect(Object.keys(stream.final)).toEqual(members);
    expect(created?.response).toMatchObject({
      ...withoutBilling(DEFAULTS),
      status: "in_progress",
      service_tier: "auto",
    });
  });

  test("shows a requested service tier from the first event on", async () => {
    verifies("response.body.service-tier-by-name");
    for (const [asked, told] of [
      ["priority", "priority"],
      ["flex", "flex"],
      ["fast", "priority"],
    ]) {
      const request = { model: MODEL, input: "Hi", stream: true, service_tier: asked };
      const { events } = await readStream(await server.post("/v1/responses", request));
      const tiers = events.flatMap((event) => ("response" in event ? [event.response.service_tier] : []));
      expect(new Set(tiers)).toEqual(new Set([told]));
    }
  });

  test("counts time in seconds, and token counts add up", async () => {
    verifies("response.body.usage-adds-up", "response.body.output-text-has-arrays");
    const { created_at, completed_at, usage, output } = await create({});
    expect(Math.abs(created_at - Date.now() / 1000)).toBeLessThan(60);
    expect(completed_at).toBeGreaterThanOrEqual(created_at);
    expect(usage).toEqual({
      input_tokens: expect.any(Number),
      input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
      output_tokens: expect.any(Number),
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0),
    });
    expect(output).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: "message",
        status: "completed",
        content: [{ type: "output_text", annotations: [], logprobs: [], text: expect.any(String) }],
        role: "assistant",
      },
    ]);
  });

  verifies(
    "create.metadata.echoed",
    "create.text.json-schema-echo",
    "tools.function.echo-fills-defaults",
    "validation.nulls.count-as-absent",
  );
  verifies("create.toolchoice.reference-forms", "create.toolchoice.specified-forms", "create.instructions.string");
  verifies("create.reasoning.context-and-mode", "create.prompt-cache.options-echoed");
  test.each(Object.entries(ECHOES))("echoes %s", async (_title, [sent, echoed]) => {
    expect(await create(sent)).toMatchObject(echoed ?? sent);
  });

  test("accepts null for a member that was not sent", async () => {
    const names = Object.keys(DEFAULTS).filter(
      (name) => !["object", "status", "model", "billing", "error", "incomplete_details"].includes(name),
    );
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    expect(await create({ ...nulls, stream: null, stream_options: null, include: null })).toMatchObject(DEFAULTS);
  });

  test("echoes the tools in a fixed form, which does not affect the next response", async () => {
    verifies("create.chain.echoed", "create.instructions.not-inherited");
    const first = await create({ tools: [tool], instructions: "Be brief.", temperature: 0.5, metadata: { a: "1" } });
    const second = await create({ previous_response_id: first.id });
    expect(second).toMatchObject({ ...DEFAULTS, previous_response_id: first.id });
  });

  test("has ids of the reference's form, with one stem along a chain", async () => {
    verifies("response.ids.prefixes");
    const first = await create({ reasoning: { effort: "low" } });
    const second = await create({ previous_response_id: first.id });
    const ids = [first.id, second.id, ...[...first.output, ...second.output].map(({ id }) => id ?? "")];
    expect(ids.map((id) => id.split("_")[0])).toEqual(["resp", "resp", "rs", "msg", "msg"]);
    for (const id of ids) expect(id).toMatch(/^[a-z]+_[0-9a-f]{50}$/);
    expect(new Set(ids.map((id) => id.split("_")[1]?.slice(0, 16))).size).toBe(1);
    expect(new Set(ids).size).toBe(ids.length);
    const stranger = await create({});
    expect(stranger.id.slice(5, 21)).not.toBe(first.id.slice(5, 21));
  });

  test("has the reference's headers and is indented by two spaces", async () => {
    verifies(
      "http.headers.request-id-on-every-reply",
      "http.headers.version-and-processing-time",
      "auth.headers.client-request-id-not-echoed",
    );
    const headers = { "content-type": "application/json", "x-client-request-id": "mine" };
    const reply = await server.fetch("/v1/responses", {
      method: "POST",
      headers,
      body: JSON.stringify({ model: MODEL, input: "Hi" }),
    });
    expect(reply.headers.get("content-type")).toBe("application/json");
    expect(reply.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
    expect(reply.headers.get("x-client-request-id")).toBeNull();
    expect(reply.headers.get("openai-version")).toBe("2020-10-01");
    expect(reply.headers.get("openai-processing-ms")).toMatch(/^\d+$/);
    expect(await reply.text()).toMatch(/^\{\n {2}"id": "resp_/);
  });
});

function withoutBilling({ billing: _billing, ...rest }: typeof DEFAULTS): object {
  return rest;
}
