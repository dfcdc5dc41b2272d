import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveBehind } from "../responses/behind-upstream.ts";
import { checkReply, type Refusal } from "../responses/check-refusal.ts";
import { readResponse } from "../responses/read-stream.ts";
import { readLive } from "../runs/live-stream.ts";
import { pollUntil } from "../runs/poll.ts";
import { type SlowModel, serveSlowModel } from "../runs/slow-model.ts";
import { verifies } from "../verifies.ts";
import { type ConversationCalls, conversationCalls, user } from "./call-conversations.ts";

const LOCKED: Refusal = {
  code: "conversation_locked",
  param: "conversation",
  message: "Another process is currently operating on this conversation. Please retry in a few seconds.",
};

interface Busy extends SlowModel {
  readonly calls: ConversationCalls;
  /** A conversation with one item, the message "First". */
  readonly id: string;
}

async function serveBusy(env: Readonly<Record<string, string>> = {}): Promise<Busy> {
  const slow = await serveSlowModel(env);
  const calls = conversationCalls(slow.server);
  const { id } = await calls.create({ items: [user("First", { id: "msg_first" })] });
  return { ...slow, calls, id };
}

/** Expects that the next response finds only these new items in the conversation. */
async function expectFree(
  { create, call, count, calls, id }: Busy,
  texts: readonly string[] = ["First"],
): Promise<void> {
  expect(await calls.texts(id)).toEqual(texts);
  const next = create({ conversation: id, input: "Next" });
  const model = await call(count());
  model.say("Free.");
  model.finish();
  expect((await readResponse(await next)).status).toBe("completed");
  expect(await calls.texts(id)).toEqual([...texts, "Next", "Free."]);
}

/** A model server that fails is asked once. */
const ONE_ATTEMPT = { MODEL_RETRIES: "0" };

test("while a response is made, nobody else can change the items; its items appear all at once at its end", async () => {
  verifies("errors.catalogue.conversation-locked", "conversations.concurrency.held-by-a-response");
  verifies("conversations.run.appended-in-one-step");
  const busy = await serveBusy();
  const { create, call, calls, id, server } = busy;
  const path = `/v1/conversations/${id}`;
  const running = create({ conversation: id, input: "Second" });
  const model = await call(0);
  const tryAll = async (): Promise<void> => {
    await checkReply(await create({ conversation: id, input: "Never" }), LOCKED);
    await checkReply(await create({ conversation: id, input: "Never", background: true }), LOCKED);
    await checkReply(await server.post(`${path}/items`, { items: [user("Never")] }), LOCKED);
    await checkReply(await server.fetch(`${path}/items/msg_first`, { method: "DELETE" }), LOCKED);
    await checkReply(await server.fetch(path, { method: "DELETE" }), LOCKED);
    expect((await server.fetch(`${path}/items/msg_none`, { method: "DELETE" })).status).toBe(404);
    expect((await server.post(path, { metadata: { a: "1" } })).status).toBe(200);
    expect(await calls.texts(id)).toEqual(["First"]);
  };
  await tryAll();
  model.say("Third");
  await tryAll();
  model.finish();
  expect((await readResponse(await running)).status).toBe("completed");
  await expectFree(busy, ["First", "Second", "Third"]);
});

test("readers are served meanwhile, and see nothing of the unfinished response", async () => {
  const { create, call, id, asked } = await serveBusy();
  const running = create({ conversation: id, input: "Second" });
  const writer = await call(0);
  writer.say("Third");
  const reading = create({ conversation: id, input: "Aside", store: false });
  const reader = await call(1);
  expect(asked()).toMatchObject({ messages: [{ content: "First" }, { content: "Aside" }] });
  for (const model of [reader, writer]) model.finish();
  for (const reply of [await reading, await running]) expect(reply.status).toBe(200);
});

test("one of two simultaneous creates is refused and leaves no trace", async () => {
  const { create, call, calls, id, count } = await serveBusy();
  const both = ["One", "Other"].map((input) => create({ conversation: id, input }));
  const model = await call(0);
  const refused = await Promise.race(both);
  await checkReply(refused, LOCKED);
  model.say("Yes.");
  model.finish();
  const replies = await Promise.all(both);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 400]));
  expect(count()).toBe(1);
  expect(await calls.texts(id)).toEqual(["First", expect.stringMatching(/^(One|Other)$/), "Yes."]);
});

test("a model server that refuses the turn frees the conversation", async () => {
  let refuses = true;
  const { server, create } = await serveBehind((response) => {
    response.writeHead(refuses ? 429 : 500).end("{}");
  });
  const calls = conversationCalls(server);
  const { id } = await calls.create({ items: [user("First")] });
  for (const status of [429, 429]) expect((await create({ conversation: id })).status).toBe(status);
  refuses = false;
  expect((await create({ conversation: id })).status).toBeGreaterThanOrEqual(500);
  await calls.add(id, [user("Second")]);
  expect(await calls.texts(id)).toEqual(["First", "Second"]);
});

test("a request that is invalid in the conversation frees it", async () => {
  const busy = await serveBusy();
  const output = { type: "function_call_output", call_id: "call_none", output: "18" };
  expect((await busy.create({ conversation: busy.id, input: [output] })).status).toBe(400);
  expect((await busy.create({ conversation: busy.id, tool_choice: "required" })).status).toBe(400);
  await expectFree(busy);
});

test("a model that breaks off fails the response, which adds nothing and frees the conversation", async () => {
  verifies("conversations.run.unfinished-appends-nothing");
  const { server, create } = await serveBehind((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"id":"x","choices":[{"index":0,"delta":{"content":"Half"},"finish_reason":null}]}\n\n', () =>
      response.destroy(),
    );
  }, ONE_ATTEMPT);
  const calls = conversationCalls(server);
  const { id } = await calls.create({ items: [user("First")] });
  const response = await readResponse(await create({ conversation: id, background: true }));
  expect((await pollUntil(server, response.id, "failed")).conversation).toEqual({ id });
  await calls.add(id, [user("Second")]);
  expect(await calls.texts(id)).toEqual(["First", "Second"]);
});

test("an answer that is cut short adds its input and its partial output", async () => {
  const { create, call, calls, id } = await serveBusy();
  const running = create({ conversation: id, input: "Second", max_output_tokens: 16 });
  const model = await call(0);
  model.say("Half");
  model.finish("length");
  expect((await readResponse(await running)).status).toBe("incomplete");
  expect(await calls.texts(id)).toEqual(["First", "Second", "Half"]);
});

test.each([false, true])("a client that leaves (stream %s) frees the conversation", async (stream) => {
  const busy = await serveBusy();
  const { create, call, id, server } = busy;
  const leaving = new AbortController();
  const running = create({ conversation: id, input: "Second", stream }, leaving.signal);
  const model = await call(0);
  model.say("Half");
  let responseId = "";
  if (stream) {
    const live = readLive(await running);
    responseId = await live.id;
    live.whole.catch(() => undefined);
  }
  leaving.abort();
  running.catch(() => undefined);
  await model.aborted;
  if (responseId !== "") await pollUntil(server, responseId, "cancelled");
  await expect
    .poll(async () => (await server.post(`/v1/conversations/${id}/items`, { items: [user("Third")] })).status)
    .toBe(200);
  await expectFree(busy, ["First", "Third"]);
});

test("after a client leaves, the conversation is soon free and holds complete turns only", async () => {
  const { server, create } = await serveBehind(async (response) => {
    await sleep(5 * Math.random());
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const text of ["re", ": ", "Hi"]) {
      response.write(sse(textChunk(text)));
      await sleep(5 * Math.random());
    }
    response.end(sse(lastChunk("stop"), "[DONE]"));
  });
  const calls = conversationCalls(server);
  const { id } = await calls.create();
  for (let turn = 0; turn < 60; turn++) {
    const leaving = AbortSignal.timeout(Math.ceil(30 * Math.random()));
    const members = { conversation: id, input: "Hi", stream: turn % 2 === 0 };
    await create(members, leaving)
      .then((reply) => reply.text())
      .catch(() => "");
  }
  const items = [user("Last")];
  await expect.poll(async () => (await server.post(`/v1/conversations/${id}/items`, { items })).status).toBe(200);
  const texts = await calls.texts(id);
  const turns = Array.from({ length: (texts.length - 1) / 2 }, () => ["Hi", "re: Hi"]);
  expect(texts).toEqual([...turns.flat(), "Last"]);
});

test("cancelling a response frees the conversation, queued or running", async () => {
  const busy = await serveBusy({ BACKGROUND_RUNS_MAX: "1" });
  const { create, call, id, server, calls } = busy;
  const running = await readResponse(await create({ conversation: id, background: true }));
  await call(0);
  const { id: other } = await calls.create();
  const queued = await readResponse(await create({ conversation: other, background: true }));
  await checkReply(await create({ conversation: other }), LOCKED);
  for (const responseId of [queued.id, running.id]) {
    const cancelled = await readResponse(await server.post(`/v1/responses/${responseId}/cancel`, {}));
    expect(cancelled.status).toBe("cancelled");
  }
  await calls.add(other, [user("Free.")]);
  expect(await calls.texts(other)).toEqual(["Free."]);
  await expectFree(busy);
});

test("deleting a response in progress frees the conversation", async () => {
  const busy = await serveBusy();
  const { create, call, id, server } = busy;
  const running = readLive(await create({ conversation: id, input: "Second", stream: true }));
  await call(0);
  expect((await server.fetch(`/v1/responses/${await running.id}`, { method: "DELETE" })).status).toBe(200);
  await running.whole;
  await expectFree(busy);
});

test("a background response holds the conversation from its acceptance to its end", async () => {
  const busy = await serveBusy();
  const { create, call, id, server } = busy;
  const response = await readResponse(await create({ conversation: id, input: "Second", background: true }));
  expect(response).toMatchObject({ status: "queued", conversation: { id } });
  await checkReply(await create({ conversation: id }), LOCKED);
  const model = await call(0);
  model.say("Third");
  model.finish();
  expect((await pollUntil(server, response.id, "completed")).conversation).toEqual({ id });
  await expectFree(busy, ["First", "Second", "Third"]);
});
