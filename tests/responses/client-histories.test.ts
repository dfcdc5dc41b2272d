import { describe, expect, test } from "vitest";
import { conversationCalls, user } from "../conversations/call-conversations.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { type BehindUpstream, says, serveBehind } from "./behind-upstream.ts";
import { checkReply, codeless, MODEL } from "./check-refusal.ts";

const TOOLS = [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false }];
const search = (members: object = {}): object => ({ type: "tool_search_call", arguments: { query: "x" }, ...members });
const found = (name: string): object => ({
  type: "tool_search_output",
  tools: [{ type: "function", name, parameters: { type: "object", properties: {} }, strict: false }],
});
const NOT_KEPT = "The tools that were found were not kept.";
const shell = (members: object = {}): object => ({
  type: "local_shell_call",
  call_id: "call_1",
  action: { type: "exec", command: ["ls"], env: {} },
  ...members,
});
const printedBy = (names: object): object => ({ type: "local_shell_call_output", ...names, output: '"a.txt"' });
const printed = (id: string): object => printedBy({ id });

function checkAnswers(behind: BehindUpstream, ...outputs: readonly string[]): void {
  const { messages }: { messages: { role: string; content: string; tool_call_id?: string }[] } = JSON.parse(
    behind.upstream.calls.at(-1)?.body ?? "",
  );
  expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual(outputs);
}

describe("a search for tools in a history", () => {
  test("of a client may be answered like a function call", async () => {
    verifies("create.history.tool-search-answers");
    const behind = await serveBehind(says("Yes."));
    const call = search({ call_id: "call_1", execution: "client" });
    const output = { type: "function_call_output", call_id: "call_1", output: "Found f." };
    expect((await behind.create({ tools: TOOLS, input: [user("Hi"), call, output] })).status).toBe(200);
    checkAnswers(behind, "Found f.");
    const other = { ...output, call_id: "call_2" };
    await checkReply(
      await behind.create({ input: [user("Hi"), call, output, other] }),
      codeless("input", "No tool call found for function call output with call_id call_2."),
    );
  });

  test("of the server needs no output", async () => {
    verifies("create.history.tool-search-answers");
    const behind = await serveBehind(says("Yes."));
    const call = search({ call_id: null, execution: "server" });
    expect((await behind.create({ input: [user("Hi"), call, user("Well?")] })).status).toBe(200);
    checkAnswers(behind, NOT_KEPT);
    await behind.create({ input: [user("Hi"), call, user("Well?"), call, found("f"), call, found("g"), call] });
    const kept = [{ tools: ["f"] }, { tools: ["g"] }].map((tools) => JSON.stringify(tools));
    checkAnswers(behind, NOT_KEPT, ...kept, NOT_KEPT);
  });

  const ran = { call_id: "tsc_1", execution: "server", status: "completed" };
  const ranOutput = (members: object): object => ({ ...found("f"), ...ran, ...members });
  const kept = JSON.stringify({ tools: ["f"] });
  test.each([
    ["with its id", [search({ ...ran, id: "tsc_1" })], NOT_KEPT],
    ["without its id", [search(ran)], NOT_KEPT],
    ["without its execution", [search({ id: "tsc_1", call_id: "tsc_1" })], NOT_KEPT],
    ["with its output", [search({ ...ran, id: "tsc_1" }), ranOutput({ id: "tso_1" })], kept],
    ["with its output and without ids", [search(ran), ranOutput({})], kept],
  ])("of the server may have its own id as its call id: %s", async (_title, items, answer) => {
    verifies("create.history.tool-search-with-own-id");
    const behind = await serveBehind(says("Yes."));
    expect(await status(behind.create({ input: [user("Hi"), ...items, user("Well?")] }))).toBe(200);
    checkAnswers(behind, answer);
    const calls = conversationCalls(behind.server);
    const { id: conversation } = await calls.create({ items: [user("Hi"), ...items] });
    expect(await status(behind.create({ conversation, input: "Well?" }))).toBe(200);
    checkAnswers(behind, answer);
  });

  test("is accepted by the built-in engine in the same forms", async () => {
    verifies("create.history.tool-search-answers");
    const server = await startTestServer();
    const byClient = search({ call_id: "call_1", execution: "client" });
    const output = { type: "function_call_output", call_id: "call_1", output: "Found f." };
    const input = [user("Hi"), search({ execution: "server" }), byClient, output];
    expect((await server.post("/v1/responses", { model: MODEL, input })).status).toBe(200);
    await server.close();
  });
});

describe("the output of a local shell call in a history", () => {
  const histories = {
    "the item id of its call": [shell({ id: "lsh_1" }), printed("lsh_1")],
    "the call id of its call": [shell({ id: "lsh_1" }), printed("call_1")],
    "the call id of a call that has no other": [shell(), printed("call_1")],
    "the call id of its call in call_id": [shell({ id: "lsh_1" }), printedBy({ call_id: "call_1" })],
    "its call in call_id, with a null id": [shell(), printedBy({ id: null, call_id: "call_1" })],
    "its call in call_id, with an id of its own": [shell(), printedBy({ id: "lsho_1", call_id: "call_1" })],
    "an item id of another provider": [shell({ id: "x".repeat(64) }), printed("x".repeat(64))],
  };

  test.each(Object.entries(histories))("may name %s", async (_title, items) => {
    verifies("create.history.local-shell-output");
    const behind = await serveBehind(says("Yes."));
    const input = [user("Hi"), ...items];
    expect(await status(behind.create({ input }))).toBe(200);
    checkAnswers(behind, '"a.txt"');
    const calls = conversationCalls(behind.server);
    const { id: conversation } = await calls.create();
    expect(await status(behind.create({ conversation, input }))).toBe(200);
    checkAnswers(behind, '"a.txt"');
    expect(await status(behind.create({ conversation, input: "And?" }))).toBe(200);
    checkAnswers(behind, '"a.txt"');
    const listed = await calls.walk(conversation);
    expect(await status(behind.create({ input: [...listed.slice(0, 3), user("Again?")] }))).toBe(200);
    checkAnswers(behind, '"a.txt"');
  });

  test("may answer a call of an earlier response", async () => {
    verifies("create.history.local-shell-output");
    const behind = await serveBehind(says("Yes."));
    const calls = conversationCalls(behind.server);
    const { id: conversation } = await calls.create({ items: [user("Hi"), shell({ id: "lsh_1" })] });
    expect(await status(behind.create({ conversation, input: [printed("lsh_1")] }))).toBe(200);
    checkAnswers(behind, '"a.txt"');
  });

  test("is refused if it names no call", async () => {
    const behind = await serveBehind(says("Yes."));
    const reply = await behind.create({ input: [user("Hi"), shell({ id: "lsh_1" }), printedBy({ call_id: null })] });
    await checkReply(reply, {
      param: "input[2].id",
      code: "missing_required_parameter",
      message: "Missing required parameter: 'input[2].id'.",
    });
  });

  test("is refused if no call has its id", async () => {
    const behind = await serveBehind(says("Yes."));
    const reply = await behind.create({ input: [user("Hi"), shell({ id: "lsh_1" }), printed("lsh_2")] });
    expect(reply.status).toBe(400);
  });
});

async function status(reply: Promise<Response>): Promise<number> {
  return (await reply).status;
}
