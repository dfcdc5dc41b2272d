import { expect, test } from "vitest";
import { lastChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { cpuMsOf } from "../kit/cpu-time.ts";
import { chunks, says, serveBehind, toolDelta } from "../responses/behind-upstream.ts";
import { checkReply, type Refusal } from "../responses/check-refusal.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { conversationCalls, user } from "./call-conversations.ts";

/** The whole server with a model that says "Yes.", and calls on its conversations. */
async function serveWithModel(answer = says("Yes.")) {
  const behind = await serveBehind(answer);
  return { ...behind, calls: conversationCalls(behind.server) };
}

test("the model gets the conversation's items before the input, and the next turn gets what was added", async () => {
  verifies("conversations.run.history-is-context", "create.context.order");
  const { calls, create, asked } = await serveWithModel();
  const { id } = await calls.create({ items: [user("One"), { role: "assistant", content: "Two" }] });
  expect((await create({ conversation: id, input: "Three", instructions: "Be brief." })).status).toBe(200);
  expect(asked()).toMatchObject({
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "One" },
      { role: "assistant", content: "Two" },
      { role: "user", content: "Three" },
    ],
  });
  await (await create({ conversation: id, input: "Four" })).text();
  expect(asked()).toMatchObject({
    messages: [
      { role: "user", content: "One" },
      { role: "assistant", content: "Two" },
      { role: "user", content: "Three" },
      { role: "assistant", content: "Yes." },
      { role: "user", content: "Four" },
    ],
  });
  expect(await calls.texts(id)).toEqual(["One", "Two", "Three", "Yes.", "Four", "Yes."]);
});

test("a request names a conversation by its id or an object with it; the response shows an object, or no member without one", async () => {
  verifies("conversations.run.echo-is-object", "response.body.conversation-and-prompt-absent");
  verifies("create.chain.echoed");
  const { calls, create } = await serveWithModel();
  const { id } = await calls.create();
  for (const conversation of [id, { id }]) {
    const response = await readResponse(await create({ conversation }));
    expect(response.conversation).toEqual({ id });
    expect(response.previous_response_id).toBeNull();
    expect(response.id.slice("resp_".length, "resp_".length + 16)).toBe(id.slice(-16));
  }
  const stream = await readStream(await create({ conversation: id, stream: true }));
  for (const event of stream.events) if ("response" in event) expect(event.response.conversation).toEqual({ id });
  expect(await readResponse(await create())).not.toHaveProperty("conversation");
});

test("a malformed name of a conversation is refused before any lookup", async () => {
  verifies("errors.catalogue.ill-formed-id");
  const { create } = await serveWithModel();
  const prefix: Refusal = {
    code: "invalid_value",
    param: "conversation",
    message: "Invalid 'conversation': 'resp_x'. Expected an ID that begins with 'conv'.",
  };
  await checkReply(await create({ conversation: "resp_x" }), prefix);
  const characters: Refusal = { code: "invalid_value", param: "conversation.id", message: /additional characters\.$/ };
  await checkReply(await create({ conversation: { id: "conv_ä" } }), characters);
  const type: Refusal = { code: "invalid_type", param: "conversation", message: /expected one of a string or object/ };
  await checkReply(await create({ conversation: 5 }), type);
});

test("the items of a response keep their ids in the conversation, also after the response is deleted", async () => {
  verifies("conversations.run.outlives-response");
  const { calls, create, server } = await serveWithModel();
  const { id } = await calls.create();
  const response = await readResponse(await create({ conversation: id, input: [user("Hi", { id: "msg_mine" })] }));
  const items = await calls.walk(id);
  expect(items).toEqual([expect.objectContaining({ id: "msg_mine" }), response.output[0]]);
  expect((await server.fetch(`/v1/responses/${response.id}`, { method: "DELETE" })).status).toBe(200);
  expect(await calls.walk(id)).toEqual(items);
  expect((await create({ conversation: id })).status).toBe(200);
});

test("with store false the conversation is read and not changed", async () => {
  verifies("conversations.run.store-false-appends-nothing");
  const { calls, create, asked } = await serveWithModel();
  const { id } = await calls.create({ items: [user("One")] });
  const response = await readResponse(await create({ conversation: id, store: false, input: "Two" }));
  expect(response.conversation).toEqual({ id });
  expect(asked()).toMatchObject({ messages: [{ content: "One" }, { content: "Two" }] });
  expect(await calls.texts(id)).toEqual(["One"]);
});

test("a conversation can be answered without any input, unless it is empty", async () => {
  const { calls, create, asked } = await serveWithModel();
  const { id } = await calls.create({ items: [user("One")] });
  expect((await create({ conversation: id, input: undefined })).status).toBe(200);
  expect(asked()).toMatchObject({ messages: [{ content: "One" }] });
  expect(await calls.texts(id)).toEqual(["One", "Yes."]);
  const { id: empty } = await calls.create();
  const nothing: Refusal = {
    code: "missing_required_parameter",
    param: null,
    message: /'conversation' must be provided\.$/,
  };
  await checkReply(await create({ conversation: empty, input: [] }), nothing);
  await checkReply(await create({ conversation: [], input: [] }), nothing);
  await calls.add(empty, [user("It is not held.")]);
});

test("a list of items as conversation precedes the input, and is neither echoed nor listed as input", async () => {
  verifies("extensions.conversation.list-of-items");
  const { create, asked, server } = await serveWithModel();
  const conversation = [user("One"), { role: "assistant", content: "Two" }, { type: "input_text", text: "Three" }];
  const response = await readResponse(await create({ conversation, input: "Four" }));
  expect(response).not.toHaveProperty("conversation");
  expect(asked()).toMatchObject({
    messages: [{ content: "One" }, { content: "Two" }, { content: "Three" }, { content: "Four" }],
  });
  const listed = await server.fetch(`/v1/responses/${response.id}/input_items`);
  expect(await listed.json()).toMatchObject({ data: [{ content: [{ text: "Four" }] }], has_more: false });
  const bad: Refusal = { code: "invalid_value", param: "conversation[0].role", message: /^Invalid value: 'king'/ };
  await checkReply(await create({ conversation: [{ role: "king", content: "Hi" }] }), bad);
  const both: Refusal = { code: "mutually_exclusive_parameters", param: null, message: /^Mutually exclusive/ };
  await checkReply(await create({ conversation, previous_response_id: response.id }), both);
});

test("a function call is answered in the next turn of a conversation; a turn without its output is refused and changes nothing", async () => {
  const call = toolDelta(0, { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } });
  const answers = [chunks(call, lastChunk("tool_calls")), says("18 degrees.")];
  const { calls, create, asked } = await serveWithModel((...parts) => answers.shift()?.(...parts));
  const { id } = await calls.create();
  const tools = [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false }];
  const first = await readResponse(await create({ conversation: id, tools, input: "Weather?" }));
  expect(first.output).toMatchObject([{ type: "function_call", call_id: "call_1" }]);
  const missing: Refusal = {
    code: "invalid_request_error",
    param: "input",
    message: "No tool output found for function call call_1.",
  };
  await checkReply(await create({ conversation: id, input: "Well?" }), missing);
  const output = { type: "function_call_output", call_id: "call_1", output: "18" };
  expect((await create({ conversation: id, tools, input: [output] })).status).toBe(200);
  expect(asked()).toMatchObject({
    messages: [
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "call_1" }] },
      { role: "tool", content: "18" },
    ],
  });
  expect(await calls.texts(id)).toEqual(["Weather?", "function_call", "function_call_output", "18 degrees."]);
});

test("an item of a conversation can be referred to elsewhere, but not added to the same conversation again", async () => {
  verifies("conversations.items.referred-to-elsewhere", "conversations.items.once");
  const { calls, create, asked } = await serveWithModel();
  const { id } = await calls.create({ items: [user("One", { id: "msg_one" })] });
  const input = [{ type: "item_reference", id: "msg_one" }, user("Two")];
  expect((await create({ input })).status).toBe(200);
  expect(asked()).toMatchObject({ messages: [{ content: "One" }, { content: "Two" }] });
  const twice: Refusal = {
    code: "invalid_request_error",
    param: "input",
    message: "Duplicate item found with id msg_one. Remove duplicate items from your input and try again.",
  };
  await checkReply(await create({ conversation: id, input }), twice);
  expect((await create({ conversation: id, input, store: false })).status).toBe(400);
  expect(await calls.texts(id)).toEqual(["One"]);
});

test("reasoning of earlier turns is not sent to a model that needs only the current turn's, and stays in the conversation", async () => {
  const { calls, create, asked } = await serveWithModel();
  const reasoning = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }] };
  const { id } = await calls.create({ items: [user("One"), reasoning, { role: "assistant", content: "Two" }] });
  expect((await create({ conversation: id, input: "Three", reasoning: { context: "current_turn" } })).status).toBe(200);
  expect(asked()).toMatchObject({ messages: [{ content: "One" }, { content: "Two" }, { content: "Three" }] });
  expect(await calls.texts(id)).toEqual(["One", "reasoning", "Two", "Three", "Yes."]);
});

test("a conversation of 5,000 items is answered, and all of them precede the input", async () => {
  const { calls, create, upstream } = await serveWithModel();
  const { id } = await calls.create();
  for (let first = 0; first < 5_000; first += 20)
    await calls.add(
      id,
      Array.from({ length: 20 }, (_, index) => user(`${first + index}`, { id: `msg_${first + index}` })),
    );
  const answering = await cpuMsOf(() => create({ conversation: id, input: "Last" }));
  expect(answering.result.status).toBe(200);
  expect(answering.ms).toBeLessThan(1_500);
  const { messages }: { messages: { content: string }[] } = JSON.parse(upstream.calls.at(-1)?.body ?? "{}");
  expect(messages.map(({ content }) => content)).toEqual([
    ...Array.from({ length: 5_000 }, (_, index) => `${index}`),
    "Last",
  ]);
  const paging = await cpuMsOf(() => calls.list(id, "?order=asc&after=msg_4899&limit=100"));
  expect(paging.result.data).toHaveLength(100);
  expect(paging.ms).toBeLessThan(200);
});
