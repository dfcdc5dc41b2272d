import { UNKNOWN_EFFECT } from "@antiphon/domain/hosted-tool.ts";
import { expect, test, vi } from "vitest";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { query } from "../kit/tested-store.ts";
import { usageChunk } from "../responses/behind-upstream.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";
import { calls, MCP, saysText, serveScript } from "./behind-script.ts";

const DONE = saysText("Done.");
const FUNCTION = { type: "function", name: "client_f", parameters: { type: "object", properties: {} } };

test("several turns are one stream with one numbering, one lifecycle and one sum of usage", async () => {
  verifies(
    "tools.mcp.call-failure-completes",
    "tools.loop.one-stream",
    "responses.stream.mcp-list-order",
    "responses.stream.mcp-call-order",
  );
  const { create, asked } = await serveScript([calls(["echo", '{"text":"a"}']), calls(["fail", "{}"]), DONE]);
  const stream = await readStream(await create({ stream: true }));
  checkStreamLaws(stream);
  expect(stream.events.map(({ type }) => type.replace("response.", ""))).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "mcp_list_tools.in_progress",
    "mcp_list_tools.completed",
    "output_item.done",
    "output_item.added",
    "mcp_call.in_progress",
    "mcp_call_arguments.delta",
    "mcp_call_arguments.delta",
    "mcp_call_arguments.done",
    "mcp_call.completed",
    "output_item.done",
    "output_item.added",
    "mcp_call.in_progress",
    "mcp_call_arguments.delta",
    "mcp_call_arguments.delta",
    "mcp_call_arguments.done",
    "mcp_call.failed",
    "output_item.done",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "completed",
  ]);
  expect(stream.final.usage).toMatchObject({ input_tokens: 30, output_tokens: 15, total_tokens: 45 });
  expect(stream.final.tool_usage.web_search.num_requests).toBe(2);
  expect(asked).toHaveLength(3);
});

test("the model is shown its reasoning, text, calls and their fenced outputs, in this order", async () => {
  verifies("tools.loop.results-are-fenced");
  const { create, asked } = await serveScript([
    calls(["echo", '{"text":"a"}'], ["fail", '{"text":"b"}']),
    calls(["echo", '{"text":"c"}']),
    DONE,
  ]);
  const response = await readResponse(await create({ instructions: "Be brief." }));
  expect(response.output.map(({ type }) => type)).toEqual([
    "mcp_list_tools",
    "mcp_call",
    "mcp_call",
    "mcp_call",
    "message",
  ]);
  const messages = asked[2]?.messages ?? [];
  expect(messages.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "tool",
    "assistant",
    "tool",
  ]);
  expect(messages[2]).toMatchObject({
    tool_calls: [
      { function: { name: "lab__echo", arguments: '{"text":"a"}' } },
      { function: { name: "lab__fail", arguments: '{"text":"b"}' } },
    ],
  });
  const { content } = messages[3] ?? {};
  const [, mark] = /^<result of="lab" mark="([0-9a-f]{16})">/.exec(String(content)) ?? [];
  expect(content).toBe(`<result of="lab" mark="${mark}">\necho got {"text":"a"}\n</result mark="${mark}">`);
  expect(String(messages[0]?.["content"])).toContain("The server lab is scripted.");
  // Nothing else of the request changes between the turns.
  expect(asked[2]?.tools).toEqual(asked[0]?.tools);
  expect(messages.slice(0, 2)).toEqual(asked[0]?.messages);
});

test("calls run side by side, and their items come one after the other", async () => {
  const { create, journal } = await serveScript([calls(["slow", "{}"], ["echo", "{}"]), DONE]);
  const stream = await readStream(await create({ stream: true }));
  checkStreamLaws(stream);
  expect(journal.steps).toEqual(["begin slow", "begin echo", "end echo", "end slow"]);
  expect(stream.final.output.flatMap((item) => (item.type === "mcp_call" ? [item.name] : []))).toEqual([
    "slow",
    "echo",
  ]);
});

test("without parallel tool calls one runs after the other", async () => {
  const { create, journal } = await serveScript([calls(["slow", "{}"], ["echo", "{}"]), DONE]);
  await readResponse(await create({ parallel_tool_calls: false }));
  expect(journal.steps).toEqual(["begin slow", "end slow", "begin echo", "end echo"]);
});

test("calls of the client's functions end the response once the other calls are done", async () => {
  verifies("tools.loop.mixed-with-client-functions");
  const { create, asked } = await serveScript([calls(["slow", "{}"], ["client_f", "{}"]), DONE]);
  const response = await readResponse(await create({ tools: [MCP, FUNCTION] }));
  expect([response.status, response.output.map(({ type }) => type)]).toEqual([
    "completed",
    ["mcp_list_tools", "mcp_call", "function_call"],
  ]);
  const call = response.output.find((item) => item.type === "function_call");
  const input = [{ type: "function_call_output", call_id: call?.call_id, output: "four" }];
  await readResponse(await create({ tools: [MCP, FUNCTION], previous_response_id: response.id, input }));
  expect(asked).toHaveLength(2);
  expect(JSON.stringify(asked[1]?.messages)).toContain("slow got {}");
});

test("a call that asks the client ends the response; the other calls of its turn run", async () => {
  const { create, asked } = await serveScript([calls(["ask", '{"text":"x"}'], ["echo", "{}"]), DONE]);
  const stream = await readStream(await create({ stream: true }));
  checkStreamLaws(stream);
  expect(stream.final.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_approval_request", "mcp_call"]);
  expect(asked).toHaveLength(1);
});

test("a forced choice holds for the first turn only", async () => {
  verifies("tools.loop.forced-choice-first-turn");
  const { create, asked } = await serveScript([calls(["echo", "{}"]), DONE]);
  await readResponse(await create({ tool_choice: { type: "mcp", server_label: "lab", name: "echo" } }));
  expect(asked[0]?.tool_choice).toEqual({ type: "function", function: { name: "lab__echo" } });
  expect([undefined, "auto"]).toContain(asked[1]?.tool_choice);
});

test("a required tool is required in the first turn only", async () => {
  const { create, asked } = await serveScript([calls(["echo", "{}"]), DONE]);
  await readResponse(await create({ tool_choice: "required" }));
  expect(asked[0]?.tool_choice).toBe("required");
  expect([undefined, "auto"]).toContain(asked[1]?.tool_choice);
});

test("allowed tools hold for every turn", async () => {
  verifies("tools.loop.forced-choice-first-turn");
  const { create, asked } = await serveScript([calls(["echo", "{}"]), DONE]);
  const allowed = { type: "mcp", server_label: "lab", name: "echo" };
  await readResponse(await create({ tool_choice: { type: "allowed_tools", mode: "required", tools: [allowed] } }));
  expect(asked.map(({ tools }) => tools?.map((tool) => tool.function.name))).toEqual([["lab__echo"], ["lab__echo"]]);
});

test("beyond max_tool_calls nothing runs, the model is told, and no tool is offered any more", async () => {
  verifies("create.limits.max-tool-calls-ignores-the-rest");
  const { create, asked, journal } = await serveScript([
    calls(["echo", '{"text":"1"}'], ["echo", '{"text":"2"}']),
    DONE,
  ]);
  const response = await readResponse(await create({ max_tool_calls: 1 }));
  expect([response.status, response.output.map(({ type }) => type)]).toEqual([
    "completed",
    ["mcp_list_tools", "mcp_call", "message"],
  ]);
  expect(journal.arguments).toEqual(['{"text":"1"}']);
  expect(String(asked[1]?.messages.at(-1)?.["content"])).toContain("The limit of 1 tool calls is reached");
  expect(asked[1]?.tool_choice).toBe("none");
});

test("a model that calls for ever is stopped: its last turn may only speak", async () => {
  verifies("tools.loop.is-bounded");
  const turns = [1, 2, 3, 4].map((text) => calls(["echo", JSON.stringify({ text })]));
  const { create, asked } = await serveScript(turns, { TOOL_TURNS_MAX: "3" });
  const response = await readResponse(await create());
  expect([response.status, asked.length, asked[2]?.tool_choice]).toEqual(["completed", 3, "none"]);
});

test("a call that brings nothing new three times ends its tool", async () => {
  verifies("tools.loop.equal-calls-end-a-tool");
  const { create, journal, asked } = await serveScript([
    ...Array.from({ length: 3 }, () => calls(["echo", "{}"])),
    DONE,
  ]);
  const stream = await readStream(await create({ stream: true }));
  checkStreamLaws(stream);
  expect(journal.steps.filter((step) => step === "begin echo")).toHaveLength(3);
  const told = asked.map(({ messages }) => String(messages.at(-1)?.["content"]));
  expect(told.map((text) => text.includes("You made this call 3 times"))).toEqual([false, false, false, true]);
  expect(asked[3]?.tools).toEqual(asked[0]?.tools);
  expect(stream.final.output.at(-1)?.type).toBe("message");
});

test("a model that calls an ended tool again may call none, and is not asked for ever", async () => {
  verifies("tools.loop.equal-calls-end-a-tool");
  const { create, journal, asked } = await serveScript([calls(["echo", "{}"])]);
  const response = await readResponse(await create());
  expect([response.status, asked.length, journal.steps.length]).toEqual(["completed", 5, 6]);
  expect(asked[4]?.tool_choice).toBe("none");
});

test("equal calls beside others that bring nothing new end their tools, too", async () => {
  const turns = Array.from({ length: 5 }, () => [calls(["echo", "{}"]), calls(["echo", '{"text":"b"}'])]).flat();
  const { create, journal } = await serveScript([...turns, DONE]);
  expect((await readResponse(await create())).status).toBe("completed");
  expect(journal.steps.filter((step) => step === "begin echo")).toHaveLength(6);
});

test("a call whose result changes is no equal call, and neither is one after which another brought something new", async () => {
  const texts = ["a", "a", "b", "a", "c", "a", "a", "d"];
  const turns = texts.map((text) => calls(["echo", JSON.stringify({ text })]));
  const polled = Array.from({ length: 5 }, () => calls(["count", "{}"]));
  const { create, journal } = await serveScript([...turns, ...polled, DONE]);
  expect((await readResponse(await create())).status).toBe("completed");
  expect(journal.steps.filter((step) => step.startsWith("begin"))).toHaveLength(texts.length + polled.length);
});

test("max_output_tokens is for all turns together", async () => {
  const { create, asked } = await serveScript([calls(["echo", "{}"]), calls(["echo", "{}"]), DONE]);
  const response = await readResponse(await create({ max_output_tokens: 24 }));
  expect([response.status, response.incomplete_details]).toEqual(["incomplete", { reason: "max_output_tokens" }]);
  expect(asked.map(({ max_tokens, max_completion_tokens }) => max_completion_tokens ?? max_tokens)).toEqual([24, 19]);
});

test("a broken tool and a tool that does not exist are told to the model", async () => {
  const { create, asked } = await serveScript([calls(["throw", "{}"]), DONE]);
  const stream = await readStream(await create({ stream: true }));
  checkStreamLaws(stream);
  expect(stream.final.output[1]).toMatchObject({
    type: "mcp_call",
    status: "failed",
    error: { type: "mcp_protocol_error" },
  });
  expect(String(asked[1]?.messages.at(-1)?.["content"])).toContain("The tool broke.");
});

test("a tool that may have effects and breaks is unknown, as after a crash", async () => {
  verifies("tools.mcp.unknown-outcome");
  const { create, asked, server } = await serveScript([calls(["act", '{"text":"break"}']), DONE]);
  const stream = await readStream(await create({ stream: true }));
  checkStreamLaws(stream);
  expect(stream.final.output[1]).toMatchObject({
    type: "mcp_call",
    status: "failed",
    error: { type: "mcp_protocol_error", message: "interrupted; whether it took effect is unknown" },
  });
  expect(asked[1]?.messages.at(-1)?.["content"]).toBe(UNKNOWN_EFFECT);
  expect(await query(server.dataDir, "select outcome from tool_exchanges")).toEqual([{ outcome: "unknown" }]);
});

test("broken arguments and tools that nobody offered do not end the server's work", async () => {
  const { create, asked } = await serveScript([calls(["echo", '{"text":'], ["nothing", "{}"]), DONE]);
  const stream = await readStream(await create({ stream: true }));
  checkStreamLaws(stream);
  expect(stream.final.status).toBe("completed");
  expect(asked.length).toBeGreaterThan(0);
});

test("text behind a call is a message of its own, shown in its place", async () => {
  const said = calls(["slow", "{}"]);
  const turn = [textChunk("Before."), ...said.slice(0, -2), textChunk("After."), ...said.slice(-2)];
  const { create } = await serveScript([turn, DONE]);
  const stream = await readStream(await create({ stream: true }));
  checkStreamLaws(stream);
  const shown = stream.final.output.map((item) => (item.type === "message" ? item.content[0] : item.type));
  expect(shown).toMatchObject([
    "mcp_list_tools",
    { text: "Before." },
    "mcp_call",
    { text: "After." },
    { text: "Done." },
  ]);
});

test("what the model cites is linked and annotated", async () => {
  const { create } = await serveScript([calls(["echo", "{}"]), saysText("It is so.【web:2】 Yes.【web:9】")]);
  const stream = await readStream(await create({ stream: true, tools: [MCP] }));
  checkStreamLaws(stream);
  const text = "It is so. ([example.com](https://example.com/a)) Yes.";
  const url = "https://example.com/a";
  expect(stream.final.output.at(-1)).toMatchObject({
    content: [{ text, annotations: [{ type: "url_citation", url, start_index: 10, end_index: 48 }] }],
  });
});

test("an answer that is cut off runs no calls with effects", async () => {
  const said = calls(["act", "{}"]).slice(0, -2);
  const { create, journal } = await serveScript([[...said, lastChunk("length")]]);
  const stream = await readStream(await create({ stream: true }));
  checkStreamLaws(stream);
  expect([stream.final.status, journal.steps]).toEqual(["incomplete", []]);
});

test("calls with effects run once the turn has ended", async () => {
  const gate = Promise.withResolvers<void>();
  const said = calls(["act", "{}"], ["echo", "{}"], ["fail", "{}"]); // The last one ends with the turn.
  const { create, journal } = await serveScript([[...said.slice(0, -2), gate.promise, ...said.slice(-2)], DONE]);
  const made = create();
  await vi.waitFor(() => expect(journal.steps).toEqual(["begin echo", "end echo"]), 5000);
  gate.resolve();
  expect((await readResponse(await made)).status).toBe("completed");
  expect(journal.steps).toContain("end act");
});

test("cancelling a background response ends its calls and closes its tools", async () => {
  verifies("tools.loop.cancel-ends-calls");
  const { create, server, journal } = await serveScript([calls(["mute", "{}"]), DONE]);
  const { id } = await readResponse(await create({ background: true }));
  await vi.waitFor(() => expect(journal.steps).toEqual(["begin mute"]), 5000);
  await server.post(`/v1/responses/${id}/cancel`, {});
  await vi.waitFor(() => expect([journal.aborted, journal.open]).toEqual([1, 0]), 5000);
  const stored = await readResponse(await server.fetch(`/v1/responses/${id}`));
  expect([stored.status, stored.output.at(-1)]).toMatchObject([
    "cancelled",
    { type: "mcp_call", status: "incomplete" },
  ]);
});

test("a client that leaves ends its calls", async () => {
  verifies("tools.loop.cancel-ends-calls");
  const { create, journal } = await serveScript([calls(["mute", "{}"]), DONE]);
  const leave = new AbortController();
  const reply = await create({ stream: true }, leave.signal);
  void reply.text().catch(() => {});
  await vi.waitFor(() => expect(journal.steps).toEqual(["begin mute"]), 5000);
  leave.abort();
  await vi.waitFor(() => expect([journal.aborted, journal.open]).toEqual([1, 0]), 5000);
});

test("a background response runs its tools too", async () => {
  const { create, server } = await serveScript([calls(["echo", "{}"]), DONE]);
  const { id } = await readResponse(await create({ background: true }));
  await vi.waitFor(async () => {
    const { status, output } = await readResponse(await server.fetch(`/v1/responses/${id}`));
    expect([status, output.map(({ type }) => type)]).toEqual(["completed", ["mcp_list_tools", "mcp_call", "message"]]);
  }, 5000);
});

test("over WebSocket a response that is not stored can be continued with its calls", async () => {
  const { server, asked } = await serveScript([calls(["echo", "{}"]), DONE]);
  const socket = await openSocket(server);
  const first = await socket.create({ model: "m", store: false, tools: [MCP] });
  expect(first.response.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
  await socket.create({
    model: "m",
    store: false,
    tools: [MCP],
    previous_response_id: first.response.id,
    input: "More",
  });
  const [call, output] = asked[2]?.messages.slice(2) ?? [];
  expect(call).toMatchObject({ role: "assistant", tool_calls: [{ function: { name: "lab__echo", arguments: "{}" } }] });
  expect(output).toMatchObject({ role: "tool", content: expect.stringContaining('<result of="lab"') });
});

test("the official client reads such a stream", async () => {
  const { client } = await serveScript([calls(["slow", '{"text":"a"}'], ["echo", "{}"]), DONE]);
  const stream = client.responses.stream({
    model: "m",
    input: "Hi",
    tools: [{ type: "mcp", server_label: "lab", server_url: "https://lab.test/mcp", require_approval: "never" }],
  });
  const response = await stream.finalResponse();
  expect([response.output_text, response.output.length]).toEqual(["Done.", 4]);
});

test("the functions of hosted tools count as input tokens where they are known without asking anybody", async () => {
  const { server } = await serveScript([DONE]);
  const count = async (tools: readonly object[]): Promise<number> => {
    const reply = await server.post("/v1/responses/input_tokens", { model: "m", input: "Hi", tools });
    const { input_tokens: tokens }: { input_tokens: number } = JSON.parse(await reply.text());
    return tokens;
  };
  expect(await count([{ type: "apply_patch" }])).toBeGreaterThan((await count([])) + 20);
});

test("a compaction sums up the calls as the model saw them, and asks with the same tools and instructions", async () => {
  const long = "A long answer. ".repeat(500);
  const { create, asked } = await serveScript([
    calls(["echo", '{"text":"a"}']),
    [textChunk(long), lastChunk("stop"), usageChunk({ prompt_tokens: 1000, completion_tokens: 5, total_tokens: 1005 })],
    saysText("What was said and done."),
  ]);
  const rules = { context_management: [{ type: "compaction", compact_threshold: 1000 }] };
  const response = await readResponse(await create({ instructions: "Be brief.", ...rules }));
  expect(response.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "message", "compaction"]);
  const [, last, summed] = asked;
  const shown = last?.messages.length ?? 0;
  expect(summed?.messages.slice(0, shown)).toEqual(last?.messages);
  expect(summed?.messages.slice(shown).map(({ role }) => role)).toEqual(["assistant", "user"]);
  expect(summed?.tools).toEqual(last?.tools);
});

test("a compaction leaves out a call that waits for its approval", async () => {
  const usage = usageChunk({ prompt_tokens: 1000, completion_tokens: 5, total_tokens: 1005 });
  const { create, asked } = await serveScript([
    [...calls(["echo", "{}"], ["ask", '{"text":"x"}']), usage],
    saysText("What was said and done."),
  ]);
  const rules = { context_management: [{ type: "compaction", compact_threshold: 1000 }] };
  const response = await readResponse(await create(rules));
  expect(response.output.at(-1)?.type).toBe("compaction");
  const [, summed] = asked;
  expect(summed?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  expect(summed?.messages[2]?.["tool_calls"]).toHaveLength(1);
});
