import { expect, test } from "vitest";
import { lastChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { verifies } from "../verifies.ts";
import { chunks, says, serveBehind, toolDelta } from "./behind-upstream.ts";
import { MODEL } from "./check-refusal.ts";
import { readResponse, readStream, responseOf } from "./read-stream.ts";

const parameters = { type: "object", properties: {}, required: [], additionalProperties: false };
const late = { type: "function", name: "late", description: "Comes late.", parameters };
const echoed = { ...late, output_schema: null, strict: true };
const sent = { type: "function", function: { name: "late", description: "Comes late.", parameters, strict: true } };
const lateCallChunks = chunks(
  toolDelta(0, { id: "call_1", type: "function", function: { name: "late", arguments: "{}" } }),
  lastChunk("tool_calls"),
);
const hi = { role: "user", content: "Hi" };
const added = { type: "additional_tools", role: "developer", tools: [late] };

test("a tool added during the conversation is echoed from the first event on, and called like any other", async () => {
  verifies("tools.joined.additional-tools-are-plain");
  const { create, asked } = await serveBehind(lateCallChunks);
  const { events, final } = await readStream(await create({ input: [added, hi], stream: true }));
  expect(responseOf(events[0]).tools).toEqual([echoed]);
  expect(final.tools).toEqual([echoed]);
  expect(final.output).toMatchObject([{ type: "function_call", name: "late", call_id: "call_1" }]);
  expect(final.output[0]).not.toHaveProperty("namespace");
  expect(asked()).toMatchObject({ tools: [sent] });
});

test("it stays along the chain, where its call has the name that the model knows", async () => {
  const { create, asked } = await serveBehind(lateCallChunks);
  const first = await readResponse(await create({ input: [added, hi] }));
  const output = { type: "function_call_output", call_id: "call_1", output: "done" };
  const second = await readResponse(await create({ previous_response_id: first.id, input: [output] }));
  expect(second.tools).toEqual([echoed]);
  expect(asked()).toMatchObject({
    tools: [sent],
    messages: [hi, { role: "assistant", tool_calls: [{ function: { name: "late" } }] }, { role: "tool" }],
  });
});

test.each(["server", "client"])(
  "a deferred function that the %s found is echoed and called with its namespace",
  async (execution) => {
    verifies("tools.joined.found-tools-are-namespaces");
    const { create, asked } = await serveBehind(lateCallChunks);
    const deferred = { ...late, defer_loading: true };
    const ids = { call_id: execution === "client" ? "call_s" : null, execution };
    const call = { type: "tool_search_call", arguments: {}, ...ids };
    const search = { type: "tool_search", execution: "client", description: "Finds.", parameters };
    const tools = [search, deferred, { ...deferred, name: "other" }];
    const found = { type: "tool_search_output", ...ids, tools: [deferred] };
    const { final } = await readStream(await create({ tools, input: [hi, call, found], stream: true }));
    expect(final.tools).toEqual([
      expect.objectContaining({ type: "tool_search" }),
      { ...echoed, name: "other", defer_loading: true },
      { type: "namespace", name: "late", description: "Comes late.", tools: [echoed] },
    ]);
    expect(final.output).toMatchObject([{ type: "function_call", name: "late", namespace: "late" }]);
    const names = ["tool_search", "other", "late"];
    expect(asked()).toMatchObject({ tools: names.map((name) => ({ function: { name } })) });
  },
);

test("tools found by the client's search join the namespace of the request", async () => {
  const { create, asked } = await serveBehind(says("Hi"));
  const member = (name: string): object => ({ ...late, name, defer_loading: true });
  const crm = (...tools: object[]): object => ({ type: "namespace", name: "crm", description: "Customers.", tools });
  const search = { type: "tool_search", execution: "client", description: "Finds.", parameters };
  const call = { type: "tool_search_call", call_id: "call_1", execution: "client", arguments: {} };
  const found = { type: "tool_search_output", call_id: "call_1", execution: "client", tools: [crm(member("find"))] };
  const request = { tools: [search, crm(member("list"))], input: [hi, call, found] };
  const { tools } = await readResponse(await create(request));
  expect(tools).toMatchObject([{ type: "tool_search" }, { name: "crm", tools: [{ name: "list" }, { name: "find" }] }]);
  const names = ["tool_search", "crm__list", "crm__find"];
  expect(asked()).toMatchObject({ tools: names.map((name) => ({ function: { name } })) });
});

test("it can be chosen, and its tokens are counted", async () => {
  const { server, create, asked } = await serveBehind(lateCallChunks);
  const request = { input: [added, hi], tool_choice: { type: "function", name: "late" } };
  expect((await readResponse(await create(request))).status).toBe("completed");
  expect(asked()).toMatchObject({ tool_choice: { type: "function", function: { name: "late" } } });
  const count = async (input: object[]): Promise<number> =>
    (await server.post("/v1/responses/input_tokens", { model: MODEL, input })).json().then(tokensOf);
  expect(await count([added, hi])).toBeGreaterThan(await count([hi]));
});

test("one that needs a server-side tool is refused by its place", async () => {
  const { create } = await serveBehind(says("Hi"));
  const reply = await create({ input: [hi, { ...added, tools: [late, { type: "local_shell" }] }] });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { param: "input[1].tools[1]", code: "unsupported_parameter" } });
});

function tokensOf(body: unknown): number {
  return typeof body === "object" && body !== null && "input_tokens" in body ? Number(body.input_tokens) : Number.NaN;
}
