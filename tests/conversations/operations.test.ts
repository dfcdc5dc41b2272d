import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { checkReply, type Refusal } from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";
import { type ConversationCalls, conversation, conversationCalls, user } from "./call-conversations.ts";

const UNKNOWN: Refusal = {
  status: 404,
  code: "invalid_request_error",
  param: null,
  message: "Conversation with id 'conv_x' not found.",
};

function unknownItem(id: string): Refusal {
  const message = `Item with id '${id}' not found in conversation.`;
  return { status: 404, code: "invalid_request_error", param: null, message };
}

const METADATA_17 = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`key${index}`, "x"]));
const ITEMS_21 = Array.from({ length: 21 }, (_, index) => user(`${index}`));

/** Invalid bodies by their fault; those of `items` concern both calls that accept items. */
const BAD_ITEMS: Readonly<Record<string, readonly [items: unknown, Refusal]>> = {
  "more than twenty": [
    ITEMS_21,
    { code: "array_above_max_length", param: "items", message: /maximum length 20, but got an array with length 21/ },
  ],
  "a string": ["Hi", { code: "invalid_type", param: "items", message: /expected an array of input items/ }],
  "an unknown role": [
    [user("Hi"), { role: "king", content: "Hi" }],
    { code: "invalid_value", param: "items[1].role", message: /^Invalid value: 'king'/ },
  ],
  "a part that is not for the role": [
    [{ role: "user", content: [{ type: "output_text", text: "Hi" }] }],
    { code: "invalid_value", param: "items[0].content[0]", message: /^Invalid value: 'output_text'/ },
  ],
  "an id with foreign characters": [
    [user("Hi", { id: "msg 1" })],
    { code: "invalid_value", param: "items[0].id", message: /letters, numbers, underscores, or dashes/ },
  ],
  "one id twice": [
    [user("One", { id: "msg_1" }), user("Two", { id: "msg_1" })],
    { code: "invalid_request_error", param: "items", message: /^Duplicate item found with id msg_1\./ },
  ],
  "a reference to nothing": [
    [{ type: "item_reference", id: "msg_nowhere" }],
    { status: 404, code: "invalid_request_error", param: "items", message: /^Item with id 'msg_nowhere' not found\./ },
  ],
};

let server: TestServer;
let calls: ConversationCalls;
beforeAll(async () => {
  server = await startTestServer();
  calls = conversationCalls(server);
});
afterAll(() => server.close());

describe("conversations", () => {
  test("can be created without a body, with an id of the reference's form", async () => {
    verifies(
      "conversations.create.empty-body",
      "conversations.operations.all-eight",
      "conversations.statuses.always-200",
    );
    const made = await calls.create();
    expect(made).toEqual({ id: made.id, object: "conversation", created_at: made.created_at, metadata: {} });
    expect(made.id).toMatch(/^conv_[0-9a-f]{48}$/);
    expect(Math.abs(made.created_at - Date.now() / 1000)).toBeLessThan(60);
    const withoutBody = await conversation(await server.fetch("/v1/conversations", { method: "POST" }));
    expect(withoutBody.metadata).toEqual({});
    const { data, has_more, first_id } = await calls.list(made.id);
    expect({ data, has_more, first_id }).toEqual({ data: [], has_more: false, first_id: null });
  });

  test("begin with the items of their creation, in order", async () => {
    verifies("conversations.create.with-items");
    const { id, metadata } = await calls.create({ metadata: { a: "1" }, items: ITEMS_21.slice(1) });
    expect(metadata).toEqual({ a: "1" });
    expect(await calls.texts(id)).toEqual(Array.from({ length: 20 }, (_, index) => `${index + 1}`));
  });

  test("can be read, and new metadata replaces the old", async () => {
    verifies("conversations.get.returns-object", "conversations.update.replaces-metadata");
    const made = await calls.create({ metadata: { a: "1", b: "2" } });
    const read = async () => await conversation(await server.fetch(`/v1/conversations/${made.id}`));
    expect(await read()).toEqual(made);
    const changed = await conversation(await server.post(`/v1/conversations/${made.id}`, { metadata: { c: "3" } }));
    expect(changed).toEqual({ ...made, metadata: { c: "3" } });
    expect(await read()).toEqual(changed);
    const emptied = await conversation(await server.post(`/v1/conversations/${made.id}`, { metadata: null }));
    expect(emptied.metadata).toEqual({});
  });

  test("can be deleted once, and are then unknown to every call", async () => {
    verifies("conversations.delete.answers-deleted", "errors.catalogue.unknown-conversation-is-404");
    const { id } = await calls.create({ items: [user("Hi", { id: "msg_kept" })] });
    const path = `/v1/conversations/${id}`;
    const deleted = await server.fetch(path, { method: "DELETE" });
    expect(deleted.status).toBe(200);
    expect(await deleted.json()).toEqual({ id, object: "conversation.deleted", deleted: true });
    const refusal: Refusal = { ...UNKNOWN, message: `Conversation with id '${id}' not found.` };
    await checkReply(await server.fetch(path, { method: "DELETE" }), refusal);
    await checkReply(await server.fetch(path), refusal);
    await checkReply(await server.post(path, { metadata: {} }), refusal);
    await checkReply(await server.fetch(`${path}/items`), refusal);
    await checkReply(await server.fetch(`${path}/items?after=msg_kept`), refusal);
    await checkReply(await server.post(`${path}/items`, { items: [user("Hi")] }), refusal);
    await checkReply(await server.fetch(`${path}/items/msg_kept`), refusal);
    await checkReply(await server.fetch(`${path}/items/msg_kept`, { method: "DELETE" }), refusal);
    await checkReply(await server.post("/v1/responses", { model: "m", input: "Hi", conversation: id }), refusal);
  });

  test("with an id that was never used are unknown", async () => {
    await checkReply(await server.fetch("/v1/conversations/conv_x"), UNKNOWN);
    await checkReply(await server.post("/v1/conversations/conv_x/items", { items: [user("Hi")] }), UNKNOWN);
  });

  test("accept at most 16 pairs of metadata, and an update needs metadata", async () => {
    const tooMany: Refusal = {
      code: "object_above_max_properties",
      param: "metadata",
      message: /at most 16 properties, but got an object with 17 properties/,
    };
    await checkReply(await server.post("/v1/conversations", { metadata: METADATA_17 }), tooMany);
    const { id } = await calls.create();
    await checkReply(await server.post(`/v1/conversations/${id}`, { metadata: METADATA_17 }), tooMany);
    const missing: Refusal = {
      code: "missing_required_parameter",
      param: "metadata",
      message: "Missing required parameter: 'metadata'.",
    };
    await checkReply(await server.post(`/v1/conversations/${id}`, {}), missing);
  });

  test.each(Object.entries(BAD_ITEMS))(
    "refuse items that are %s, and keep none of them",
    async (_title, [items, refusal]) => {
      await checkReply(await server.post("/v1/conversations", { items }), refusal);
      const { id } = await calls.create({ items: [user("First")] });
      await checkReply(await server.post(`/v1/conversations/${id}/items`, { items }), refusal);
      expect(await calls.texts(id)).toEqual(["First"]);
    },
  );

  test("refuse an empty list of items", async () => {
    const { id } = await calls.create();
    const none: Refusal = { code: "array_below_min_length", param: "items", message: /minimum length 1/ };
    await checkReply(await server.post(`/v1/conversations/${id}/items`, { items: [] }), none);
    const missing: Refusal = {
      code: "missing_required_parameter",
      param: "items",
      message: "Missing required parameter: 'items'.",
    };
    await checkReply(await server.post(`/v1/conversations/${id}/items`, {}), missing);
  });
});

describe("the items of a conversation", () => {
  test("are added to its end, normalised like those of a request, and only they are in the reply", async () => {
    verifies("conversations.items.append");
    const { id } = await calls.create({ items: [user("First")] });
    const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
    const added = await calls.add(id, [
      { role: "assistant", content: "Yes" },
      { role: "user", content: [{ type: "input_text", text: "See" }, image] },
      { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
    ]);
    expect(added.has_more).toBe(false);
    expect(added.data.map(({ id: _id, ...item }) => item)).toEqual([
      {
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", annotations: [], logprobs: [], text: "Yes" }],
      },
      {
        type: "message",
        status: "completed",
        role: "user",
        content: [
          { type: "input_text", text: "See" },
          { ...image, detail: "auto", file_id: null },
        ],
      },
      { type: "function_call", status: "completed", call_id: "call_1", name: "f", arguments: "{}" },
    ]);
    const key = id.slice(-16);
    expect(added.data.map((item) => item.id)).toEqual([
      expect.stringMatching(new RegExp(`^msg_[0-9a-f]{32}${key}$`)),
      expect.stringMatching(new RegExp(`^msg_[0-9a-f]{32}${key}$`)),
      expect.stringMatching(new RegExp(`^fc_[0-9a-f]{32}${key}$`)),
    ]);
    expect((await calls.walk(id)).slice(1)).toEqual(added.data);
  });

  test("may be references, parts and tool outputs", async () => {
    const { id } = await calls.create({ items: [user("Kept", { id: "msg_kept" })] });
    await calls.add(id, [{ type: "custom_tool_call", call_id: "call_9", name: "run", input: "ls" }]);
    await calls.add(id, [{ type: "tool_result", call_id: "call_9", output: "a.txt" }]);
    const { id: other } = await calls.create({ items: [{ type: "item_reference", id: "msg_kept" }] });
    expect(await calls.texts(id)).toEqual(["Kept", "custom_tool_call", "custom_tool_call_output"]);
    await calls.add(other, [
      { type: "input_text", text: "One" },
      { type: "input_text", text: "Two" },
    ]);
    expect(await calls.texts(other)).toEqual(["Kept", "One Two"]);
    const { id: third } = await calls.create({ items: [{ id: "msg_kept" }] });
    expect(await calls.texts(third)).toEqual(["Kept"]);
  });

  test("are all refused if one of them is already there", async () => {
    const { id } = await calls.create({ items: [user("First", { id: "msg_1" })] });
    const twice: Refusal = {
      code: "invalid_request_error",
      param: "items",
      message: "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
    };
    const items = [user("Second"), user("First", { id: "msg_1" })];
    await checkReply(await server.post(`/v1/conversations/${id}/items`, { items }), twice);
    expect(await calls.texts(id)).toEqual(["First"]);
  });

  test("are listed twenty at a time, newest first, by default", async () => {
    verifies("conversations.items.list", "lists.query.defaults", "lists.query.order", "lists.query.after-is-exclusive");
    const { id } = await calls.create();
    const oldestFirst = Array.from({ length: 25 }, (_, index) => `msg_${index}`);
    await calls.add(
      id,
      oldestFirst.slice(0, 20).map((item) => user(item, { id: item })),
    );
    await calls.add(
      id,
      oldestFirst.slice(20).map((item) => user(item, { id: item })),
    );
    const newestFirst = oldestFirst.toReversed();
    const page = async (query: string): Promise<object> => {
      const { data, has_more } = await calls.list(id, query);
      return { ids: data.map((item) => item.id), more: has_more };
    };
    expect(await page("")).toEqual({ ids: newestFirst.slice(0, 20), more: true });
    expect(await page("?after=msg_5")).toEqual({ ids: newestFirst.slice(20), more: false });
    expect(await page("?order=asc&limit=2&after=msg_1")).toEqual({ ids: oldestFirst.slice(2, 4), more: true });
    expect(await page("?limit=100&include[]=message.input_image.image_url")).toEqual({ ids: newestFirst, more: false });
    expect(await page("?limit=5&after=msg_0")).toEqual({ ids: [], more: false });
    const path = `/v1/conversations/${id}/items`;
    const limit = { code: "integer_above_max_value", param: "limit", message: /<= 100, but got 101/ };
    await checkReply(await server.fetch(`${path}?limit=101`), limit);
    const cursor = { code: "invalid_value", param: "after", message: /^Invalid 'after': 'msg_x'/ };
    await checkReply(await server.fetch(`${path}?after=msg_x`), cursor);
  });

  test("can be read and deleted one by one; deleting returns the conversation", async () => {
    verifies("conversations.items.get-one", "conversations.items.delete-one");
    verifies("errors.catalogue.unknown-conversation-item-is-404");
    const made = await calls.create({ items: [user("One"), user("Two")], metadata: { a: "1" } });
    const [first] = await calls.walk(made.id);
    const path = `/v1/conversations/${made.id}/items/${first?.id}`;
    expect(await (await server.fetch(path)).json()).toEqual(first);
    expect(await conversation(await server.fetch(path, { method: "DELETE" }))).toEqual(made);
    expect(await calls.texts(made.id)).toEqual(["Two"]);
    for (const method of ["GET", "DELETE"])
      await checkReply(await server.fetch(path, { method }), unknownItem(first?.id ?? ""));
  });

  test("are complete, without duplicates and in the blocks sent, after 200 clients added them at once", async () => {
    verifies("conversations.concurrency.total-order");
    const { id } = await calls.create();
    const writers = Array.from({ length: 200 }, (_, writer) => [0, 1, 2].map((item) => `${writer}.${item}`));
    const reads: (readonly string[])[] = [];
    const reading = setInterval(() => void calls.texts(id).then((texts) => reads.push(texts)), 20);
    await Promise.all(
      writers.map((texts) =>
        calls.add(
          id,
          texts.map((text) => user(text)),
        ),
      ),
    );
    clearInterval(reading);
    const items = await calls.walk(id, 7);
    expect(new Set(items.map((item) => item.id)).size).toBe(600);
    const texts = await calls.texts(id);
    const blocks = Array.from({ length: 200 }, (_, index) => texts.slice(3 * index, 3 * index + 3));
    expect(blocks.map((block) => block.join(" ")).toSorted()).toEqual(
      writers.map((block) => block.join(" ")).toSorted(),
    );
    // Items that were read earlier never moved.
    for (const read of reads) expect(read).toEqual(texts.slice(0, read.length));
  });
});
