import { BadRequestError, NotFoundError } from "openai";
import { describe, expect, test } from "vitest";
import { installedVersion } from "./installed-version.ts";
import { MODEL, startWithClient, WEATHER } from "./openai-client.ts";

const { client } = await startWithClient();

describe(`openai ${installedVersion("openai")}`, () => {
  test("a conversation is made, read, changed and deleted", async () => {
    const created = await client.conversations.create({ metadata: { topic: "demo" } });
    expect(created).toMatchObject({ object: "conversation", metadata: { topic: "demo" } });
    expect(created.id).toMatch(/^conv_/);
    expect(await client.conversations.retrieve(created.id)).toMatchObject({ id: created.id });
    const updated = await client.conversations.update(created.id, { metadata: { topic: "other" } });
    expect(updated.metadata).toEqual({ topic: "other" });
    expect(await client.conversations.delete(created.id)).toMatchObject({ id: created.id, deleted: true });
    await expect(client.conversations.retrieve(created.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  test("items are added, fetched, walked in both orders and deleted", async () => {
    const { id } = await client.conversations.create({ items: [{ role: "user", content: "message 0" }] });
    const added = await client.conversations.items.create(id, {
      items: Array.from({ length: 6 }, (_, index) => ({ role: "user" as const, content: `message ${index + 1}` })),
    });
    expect(added.data).toHaveLength(6);
    const [first] = added.data;
    if (first?.type !== "message") throw new Error("the first item is a message");
    expect(await client.conversations.items.retrieve(first.id, { conversation_id: id })).toEqual(first);
    const walk = async (order: "asc" | "desc") => {
      const texts: string[] = [];
      for await (const item of client.conversations.items.list(id, { limit: 2, order }))
        if (item.type === "message" && item.content[0]?.type === "input_text") texts.push(item.content[0].text);
      return texts;
    };
    const expected = Array.from({ length: 7 }, (_, index) => `message ${index}`);
    expect(await walk("asc")).toEqual(expected);
    expect(await walk("desc")).toEqual(expected.toReversed());
    await client.conversations.items.delete(first.id, { conversation_id: id });
    expect(await walk("asc")).toEqual(expected.filter((text) => text !== "message 1"));
  });

  test("responses read a conversation and append to it, streamed and in the background too", async () => {
    const { id } = await client.conversations.create();
    const first = await client.responses.create({ model: MODEL, input: "My name is Ada.", conversation: id });
    expect(first.conversation).toEqual({ id });
    const second = await client.responses
      .stream({ model: MODEL, input: "What is my name?", conversation: { id } })
      .finalResponse();
    expect(second.output_text).toContain("Ada");
    const third = await client.responses.create({
      model: MODEL,
      input: "What did I say?",
      conversation: id,
      background: true,
    });
    await expect.poll(async () => (await client.responses.retrieve(third.id)).status).toBe("completed");
    const roles: string[] = [];
    for await (const item of client.conversations.items.list(id, { order: "asc" }))
      roles.push(item.type === "message" ? item.role : item.type);
    expect(roles).toEqual(["user", "assistant", "user", "assistant", "user", "assistant"]);
  });

  test("a function's round trip goes through a conversation", async () => {
    const { id } = await client.conversations.create();
    const tools = [WEATHER];
    const first = await client.responses.create({ model: MODEL, input: "Weather in Paris?", tools, conversation: id });
    const call = first.output.find((item) => item.type === "function_call");
    const second = await client.responses.create({
      model: MODEL,
      tools,
      conversation: id,
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "18 degrees" }],
    });
    expect(second.output_text).toContain("18 degrees");
  });

  test("an unknown conversation and two ways to continue are refused", async () => {
    const unknown = client.responses.create({ model: MODEL, input: "Hi", conversation: "conv_unknown" });
    await expect(unknown).rejects.toBeInstanceOf(NotFoundError);
    const { id } = await client.conversations.create();
    const both = client.responses.create({
      model: MODEL,
      input: "Hi",
      conversation: id,
      previous_response_id: "resp_x",
    });
    await expect(both).rejects.toBeInstanceOf(BadRequestError);
  });
});
