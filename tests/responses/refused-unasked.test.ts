import { expect, test } from "vitest";
import { conversationCalls } from "../conversations/call-conversations.ts";
import { verifies } from "../verifies.ts";
import { says, serveBehind } from "./behind-upstream.ts";
import { checkReply, type Refusal } from "./check-refusal.ts";

const emptyArray = (param: string): Refusal => ({
  code: "empty_array",
  param,
  message: `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
});

test("a user message with empty content is refused before the model server is called", async () => {
  verifies("validation.items.empty-user-message");
  const { create, upstream, server } = await serveBehind(says("Yes."));
  const items = [
    { role: "user", content: "Hi" },
    { role: "user", content: [] },
  ];
  await checkReply(await create({ input: items }), emptyArray("input[1].content"));
  await checkReply(await create({ conversation: items }), emptyArray("conversation[1].content"));
  const { id } = await conversationCalls(server).create();
  const added = await server.post(`/v1/conversations/${id}/items`, { items });
  await checkReply(added, emptyArray("items[1].content"));
  expect(upstream.calls).toEqual([]);
  const empty = [items[0], { role: "assistant", content: [] }, { role: "user", content: "" }];
  expect((await create({ input: empty })).status).toBe(200);
});

test("an empty model name is refused before the model server is called, which might accept it", async () => {
  verifies("errors.catalogue.unknown-model-is-400");
  const { create, upstream, server } = await serveBehind(says("Yes."));
  const refusal = { code: "model_not_found", param: "model", message: "The requested model '' does not exist." };
  for (const members of [{}, { stream: true }, { background: true }, { truncation: "auto" }]) {
    await checkReply(await create({ model: "", ...members }), refusal);
  }
  await checkReply(await server.post("/v1/responses/compact", { model: "", input: "Hi" }), refusal);
  expect(upstream.calls).toEqual([]);
});
