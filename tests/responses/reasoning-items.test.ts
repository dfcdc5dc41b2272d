import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { conversationCalls, user } from "../conversations/call-conversations.ts";
import { verifies } from "../verifies.ts";
import { chunks, delta, serveBehind } from "./behind-upstream.ts";
import { checkReply, codeless } from "./check-refusal.ts";
import { readItemList } from "./read-item-list.ts";
import { readResponse, readStream } from "./read-stream.ts";

const thinking = chunks(delta({ reasoning_content: "Hmm." }), textChunk("Yes."), lastChunk("stop"));
const raw = [{ type: "reasoning_text", text: "Hmm." }];

/** The content of each reasoning item in a list. */
function contents(items: readonly object[]): readonly unknown[] {
  return items.flatMap((item) => ("summary" in item ? ["content" in item ? item.content : "none"] : []));
}

test("a reasoning item has content in every event and body: the raw reasoning, or an empty list if only a summary is shown", async () => {
  verifies("create.output.reasoning-content");
  const { create, server } = await serveBehind(thinking);
  for (const [reasoning, content] of [
    [{}, raw],
    [{ summary: "auto" }, []],
  ]) {
    const { events, final } = await readStream(await create({ stream: true, reasoning }));
    const shown = events.flatMap((event) =>
      "item" in event ? [event.item] : "response" in event ? event.response.output : [],
    );
    expect(contents(shown)).toEqual([[], content, content]);
    expect(contents((await readResponse(await server.fetch(`/v1/responses/${final.id}`))).output)).toEqual([content]);
  }
});

test("a reasoning item that was sent has content in lists of items", async () => {
  verifies("create.output.reasoning-content");
  const { create, server } = await serveBehind(thinking);
  const calls = conversationCalls(server);
  const summary = [{ type: "summary_text", text: "Hm." }];
  const message = { role: "assistant", content: "Ho" };
  const input = [
    user("Hi"),
    { type: "reasoning", summary },
    message,
    { type: "reasoning", summary, content: null },
    message,
    { type: "reasoning", summary, content: raw },
    message,
  ];
  const { id: conversation } = await calls.create({ items: input });
  expect(contents(await calls.walk(conversation))).toEqual([[], [], raw]);
  const { id }: ResponseBody = await readResponse(await create({ input }));
  const listed = await readItemList(await server.fetch(`/v1/responses/${id}/input_items?order=asc`));
  expect(contents(listed.data)).toEqual([[], [], raw]);
});

test("a reasoning item of this server must be followed by a message of the same response", async () => {
  verifies("errors.catalogue.reasoning-without-follower");
  const { create } = await serveBehind(thinking);
  const [reasoning, message] = (await readResponse(await create())).output;
  const [, other] = (await readResponse(await create())).output;
  const words = `Item '${reasoning?.id}' of type 'reasoning' was provided without its required following item.`;
  const follow = (follower: unknown): Promise<Response> =>
    create({ input: [user("Hi"), reasoning, follower, user("And?")], store: false });
  expect((await follow(message)).status).toBe(200);
  for (const follower of [other, { ...message, id: "msg_mine" }])
    await checkReply(await follow(follower), codeless("input", words));
});

test.each([
  ["sealed", { include: ["reasoning.encrypted_content"], store: false }],
  ["unsealed", { include: [] }],
])("%s reasoning may be followed by its message without an id", async (_title, members) => {
  verifies("create.history.reasoning-before-message-without-id", "errors.catalogue.reasoning-without-follower");
  const { create, asked } = await serveBehind(thinking);
  const { output } = await readResponse(await create(members));
  const [, other] = (await readResponse(await create(members))).output;
  const follow = (follower: unknown): Promise<Response> =>
    create({ input: [user("Hi"), output[0], follower, user("And?")], ...members });
  // The forms of openai-agents for Python, with a session, and of clients that send text alone.
  const { id: _id, ...idless } = { id: "", ...output[1] };
  for (const follower of [idless, { role: "assistant", content: "Yes." }]) {
    const reply = await follow(follower);
    expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)]);
    expect(asked()).toMatchObject({ messages: [{}, { role: "assistant", content: "Yes." }, {}] });
  }
  const words = `Item '${output[0]?.id}' of type 'reasoning' was provided without its required following item.`;
  await checkReply(await follow(other), codeless("input", words));
});

test("a reasoning item of another server, or without an id, may be followed by any assistant message", async () => {
  verifies("errors.catalogue.reasoning-without-follower");
  const { create, server } = await serveBehind(thinking);
  const first = await readResponse(
    await create({ input: [user("Hi"), { type: "reasoning", summary: [] }, { role: "assistant", content: "Ho" }] }),
  );
  const listed = await readItemList(await server.fetch(`/v1/responses/${first.id}/input_items?order=asc`));
  const reasonings = [{ summary: [] }, { id: "rs_mine", summary: [] }, listed.data[1]];
  for (const reasoning of reasonings) {
    for (const id of ["msg_mine", first.output[1]?.id, undefined]) {
      const message = { role: "assistant", content: "Ho", ...(id === undefined ? {} : { id }) };
      const reply = await create({ input: [user("Hi"), { type: "reasoning", ...reasoning }, message], store: false });
      expect(reply.status, JSON.stringify([reasoning, message])).toBe(200);
    }
  }
});
