import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  type ChatServer,
  lastChunk,
  serveChat,
  sse,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { readUntil } from "../kit/event-stream.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { type ConversationCalls, conversationCalls, user } from "./call-conversations.ts";

/** Several processes start one after the other, possibly on a busy machine. */
const STARTS_TIMEOUT_MS = 90_000;

/** One start of the server on a data folder that outlives it. */
interface Life extends ChildServer {
  readonly calls: ConversationCalls;
}

async function live(dataDir: string, model: ChatServer): Promise<Life> {
  const env = { DATA_DIR: dataDir, MODEL_BASE_URL: `${model.origin}/v1` };
  const child = await startChildServer({ env });
  return { ...child, calls: conversationCalls(child) };
}

/**
 * A model that follows the user's message: "hang" gets no answer, "stutter" half an answer, and anything else an answer
 * with the last message.
 */
async function serveModel(): Promise<ChatServer & { obey: boolean }> {
  const model = { obey: true };
  const server = await serveChat((response, { body }) => {
    const { messages }: { messages: { content: string }[] } = JSON.parse(body);
    const said = messages.at(-1)?.content ?? "";
    if (said === "hang" && model.obey) return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(textChunk(`re: ${said}`)));
    if (said !== "stutter" || !model.obey) response.end(sse(lastChunk("stop"), "[DONE]"));
  });
  return Object.assign(model, server);
}

test("a server killed during responses leaves their conversations complete and usable", {
  timeout: STARTS_TIMEOUT_MS,
}, async () => {
  verifies("conversations.concurrency.held-by-a-response");
  const [model, dataDir] = [await serveModel(), join(temporaryFolder(), "data")];
  const first = await live(dataDir, model);
  const begin = async (input: string, members: object = {}): Promise<{ id: string; reply: Promise<Response> }> => {
    const { id } = await first.calls.create({ items: [user("First")] });
    const seen = model.calls.length;
    const reply = first.post("/v1/responses", { model: "m", conversation: id, input, ...members });
    reply.catch(() => undefined);
    while (model.calls.length === seen) await sleep(5);
    return { id, reply };
  };
  const recorded = async (responseId: string, text: string): Promise<void> => {
    await readUntil(await first.fetch(`/v1/responses/${responseId}/events?dialect=reference`), `"delta":"${text}"`);
  };
  const unanswered = await begin("hang");
  const halfAnswered = await begin("stutter", { stream: true });
  await halfAnswered.reply;
  const queued = await begin("hang", { background: true });
  const { id: responseId } = await readResponse(await queued.reply);
  const halfQueued = await begin("stutter", { background: true });
  const { id: halfId } = await readResponse(await halfQueued.reply);
  const halfFailing = await begin("stutter", { background: true, interruption: "fail" });
  const { id: failingId } = await readResponse(await halfFailing.reply);
  const done = await begin("hello");
  expect((await done.reply).status).toBe(200);
  for (const id of [halfId, failingId]) await recorded(id, "re: stutter");
  await first.kill();

  model.obey = false;
  const { calls, post, fetch: call } = await live(dataDir, model);
  const statusOf = async (id: string): Promise<string> =>
    (await readResponse(await call(`/v1/responses/${id}`))).status;
  await expect.poll(() => statusOf(responseId), { timeout: 10_000 }).toBe("completed");
  await expect.poll(() => statusOf(halfId), { timeout: 10_000 }).toBe("completed");
  await expect.poll(() => statusOf(failingId), { timeout: 10_000 }).toBe("failed");
  for (const { id } of [unanswered, halfAnswered, halfFailing]) expect(await calls.texts(id)).toEqual(["First"]);
  expect(await calls.texts(queued.id)).toEqual(["First", "hang", "re: hang"]);
  expect(await calls.texts(halfQueued.id)).toEqual(["First", "stutter", "re: stutter"]);
  expect(await calls.texts(done.id)).toEqual(["First", "hello", "re: hello"]);
  for (const { id } of [unanswered, halfAnswered, queued, halfQueued, halfFailing, done]) {
    const before = await calls.texts(id);
    expect((await post("/v1/responses", { model: "m", conversation: id, input: "again" })).status).toBe(200);
    expect(await calls.texts(id)).toEqual([...before, "again", "re: again"]);
  }
});

/** What the writers of one conversation were told, by the text they wrote. */
interface Confirmed {
  readonly tried: Set<string>;
  readonly kept: Set<string>;
}

async function until(count: () => number, enough: number): Promise<void> {
  while (count() < enough) await sleep(1);
}

/** Writes until the server is gone: items in pairs, and sometimes a response. */
async function write({ post }: Life, id: string, writer: string, promised: Confirmed): Promise<void> {
  for (let turn = 0; ; turn++) {
    const text = `${writer}.${turn}`;
    promised.tried.add(text);
    const asks = turn % 3 === 0;
    const sent = asks
      ? post("/v1/responses", { model: "m", conversation: id, input: text })
      : post(`/v1/conversations/${id}/items`, { items: [user(text), user(`re: ${text}`)] });
    const status = await sent.then(async (reply) => (await reply.text(), reply.status)).catch(() => 0);
    if (status === 0) return;
    if (status === 200) promised.kept.add(text);
    else expect(status, `${text} was refused`).toBe(400); // Another writer held the conversation.
  }
}

test("after any kill, each confirmed write is in the conversation once, and no write is there in part", {
  timeout: STARTS_TIMEOUT_MS,
}, async () => {
  const [model, dataDir] = [await serveModel(), join(temporaryFolder(), "data")];
  const promised: Confirmed = { tried: new Set(), kept: new Set() };
  let id = "";
  for (let round = 0; round < 4; round++) {
    const server = await live(dataDir, model);
    if (round === 0) ({ id } = await server.calls.create());
    const writers = Array.from({ length: 6 }, (_, index) => write(server, id, `${round}.${index}`, promised));
    const gone = Promise.all(writers);
    await Promise.race([gone, until(() => promised.kept.size, promised.kept.size + 5 + 25 * Math.random())]);
    await server.kill();
    await gone;
  }
  const { calls, post } = await live(dataDir, model);
  await expect
    .poll(async () => (await post(`/v1/conversations/${id}/items`, { items: [user("last"), user("re: last")] })).status)
    .toBe(200);
  const texts = await calls.texts(id);
  const pairs = Array.from({ length: texts.length / 2 }, (_, index) => texts.slice(2 * index, 2 * index + 2));
  for (const [said, answer] of pairs) expect(answer).toBe(`re: ${said}`);
  const written = pairs.map(([said = ""]) => said);
  expect(new Set(written).size).toBe(written.length);
  for (const text of promised.kept) expect(written).toContain(text);
  for (const text of written) expect(text === "last" || promised.tried.has(text)).toBe(true);
});
