import OpenAI, { BadRequestError, NotFoundError } from "openai";
import { describe, expect, test } from "vitest";
import { says, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";

const model = "m";

/** The official client of a server whose model says "Yes."; `shown` returns the texts that the model was last given. */
async function serve() {
  const { server, asked } = await serveBehind(says("Yes."));
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
  const shown = (): readonly string[] => {
    const texts: string[] = [];
    const read = (key: string, value: unknown): unknown => {
      if (key === "content" && typeof value === "string" && value !== "") texts.push(value);
      return value;
    };
    JSON.parse(JSON.stringify(asked()), (key, value) => read(key, value));
    return texts;
  };
  return { client, shown };
}

const messagesOf = ({ output: items }: OpenAI.Responses.Response) =>
  items.flatMap((item) => (item.type === "message" ? [item] : []));

const said = (role: "user" | "assistant", content: string) => ({ role, content });
const call = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" } as const;
const output = { type: "function_call_output", call_id: "call_1", output: "18 degrees." } as const;

describe(`openai ${installedVersion("openai")}, where the reference's behaviour is unknown`, () => {
  test("a response made in a conversation continues with what it saw of the conversation, and nothing later", async () => {
    verifies("create.chain.from-a-conversation");
    const { client, shown } = await serve();
    const { id: conversation } = await client.conversations.create({ items: [said("user", "One")] });
    const first = await client.responses.create({ model, conversation, input: "Two" });
    await client.responses.create({ model, conversation, input: "Later" });
    const next = await client.responses.create({ model, previous_response_id: first.id, input: "Three" });
    expect(shown()).toEqual(["One", "Two", "Yes.", "Three"]);
    await client.conversations.delete(conversation);
    await client.responses.create({ model, previous_response_id: next.id, input: "Four" });
    expect(shown()).toEqual(["One", "Two", "Yes.", "Three", "Yes.", "Four"]);
  });

  test("a response can be continued after its ancestors were deleted, and those cannot be fetched", async () => {
    verifies("create.chain.deleted-ancestors");
    const { client, shown } = await serve();
    const first = await client.responses.create({ model, input: "One" });
    const second = await client.responses.create({ model, input: "Two", previous_response_id: first.id });
    const [message] = first.output;
    await client.responses.delete(first.id);
    await expect(client.responses.retrieve(first.id)).rejects.toBeInstanceOf(NotFoundError);
    await expect(client.responses.delete(first.id)).rejects.toBeInstanceOf(NotFoundError);
    const after = { model, previous_response_id: first.id, input: "And?" };
    await expect(client.responses.create(after)).rejects.toThrow(`Previous response with id '${first.id}' not found.`);
    const reference = { type: "item_reference", id: message?.id ?? "" } as const;
    await expect(client.responses.create({ model, input: [reference] })).rejects.toBeInstanceOf(NotFoundError);
    await client.responses.create({ model, previous_response_id: second.id, input: "Three" });
    expect(shown()).toEqual(["One", "Yes.", "Two", "Yes.", "Three"]);
  });

  test("messages of the chain that are sent again count once, but changed texts under their ids are new", async () => {
    verifies("create.chain.repeated-messages-once");
    const { client, shown } = await serve();
    const input = [{ id: "msg_1", type: "message", ...said("user", "One") }] as const;
    const first = await client.responses.create({ model, input: [...input] });
    const again = [...input, ...messagesOf(first), { ...said("user", "Two"), id: "msg_2", type: "message" as const }];
    const second = await client.responses.create({ model, input: again, previous_response_id: first.id });
    expect(shown()).toEqual(["One", "Yes.", "Two"]);
    const other = { ...said("user", "Three"), id: "msg_1", type: "message" } as const;
    await client.responses.create({ model, input: [other], previous_response_id: second.id });
    expect(shown()).toEqual(["One", "Yes.", "Two", "Yes.", "Three"]);
    const listed = await client.responses.inputItems.list(second.id, { order: "asc" });
    expect(listed.data).toHaveLength(3);
  });

  test.each([0, 1])("a conversation stays usable after a call or its output was deleted (%i)", async (half) => {
    verifies("conversations.items.half-a-call");
    const { client, shown } = await serve();
    const { id: conversation } = await client.conversations.create({ items: [said("user", "One")] });
    const added = await client.conversations.items.create(conversation, { items: [call, output] });
    await client.conversations.items.delete(added.data[half]?.id ?? "", { conversation_id: conversation });
    await client.responses.create({ model, conversation, input: "Two" });
    expect(shown()).toEqual(["One", "Two"]);
    const listed = await client.conversations.items.list(conversation, { order: "asc" });
    expect(listed.data.map(({ type }) => type)).toContain(half === 0 ? "function_call_output" : "function_call");
  });

  test("a call whose output was deleted accepts another output, and an unanswered call still needs its output", async () => {
    verifies("conversations.items.half-a-call");
    const { client, shown } = await serve();
    const { id: conversation } = await client.conversations.create({ items: [said("user", "One"), call, output] });
    const { data } = await client.conversations.items.list(conversation, { order: "asc" });
    await client.conversations.items.delete(data[2]?.id ?? "", { conversation_id: conversation });
    await client.responses.create({ model, conversation, input: [{ ...output, output: "19 degrees." }] });
    expect(shown()).toEqual(["One", "19 degrees."]);
    const other = await client.conversations.create({ items: [said("user", "One"), call] });
    const unanswered = client.responses.create({ model, conversation: other.id, input: "Two" });
    await expect(unanswered).rejects.toBeInstanceOf(BadRequestError);
  });
});
