import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { checkReply, MODEL, type Refusal } from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";
import { type ConversationCalls, conversationCalls, user } from "./call-conversations.ts";

const KEYS = { ours: "sk-ours-0123456789", theirs: "sk-theirs-0123456789" };

let server: TestServer;
let calls: ConversationCalls;
beforeAll(async () => {
  const API_KEYS = `${KEYS.ours}=org_a/project_a,${KEYS.theirs}=org_a/project_b`;
  server = await startTestServer({ env: { API_KEYS } });
  calls = conversationCalls(as(KEYS.ours));
});
afterAll(() => server.close());

/** The server as seen by the holder of a key. */
function as(key: string): Pick<TestServer, "fetch" | "post"> {
  const call = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${key}`);
    return server.fetch(path, { ...init, headers });
  };
  const headers = { "content-type": "application/json" };
  return { fetch: call, post: (path, body) => call(path, { method: "POST", headers, body: JSON.stringify(body) }) };
}

test("to every call, another owner's conversation is as unknown as one that never existed", async () => {
  verifies("state.owner.other-key-gets-404");
  const { id } = await calls.create({ items: [user("Secret", { id: "msg_secret" })], metadata: { a: "1" } });
  const theirs = as(KEYS.theirs);
  for (const asked of [id, "conv_x"]) {
    const unknown: Refusal = {
      status: 404,
      code: "invalid_request_error",
      param: null,
      message: `Conversation with id '${asked}' not found.`,
    };
    const path = `/v1/conversations/${asked}`;
    await checkReply(await theirs.fetch(path), unknown);
    await checkReply(await theirs.post(path, { metadata: { a: "2" } }), unknown);
    await checkReply(await theirs.fetch(path, { method: "DELETE" }), unknown);
    await checkReply(await theirs.fetch(`${path}/items`), unknown);
    await checkReply(await theirs.fetch(`${path}/items?after=msg_secret`), unknown);
    await checkReply(await theirs.post(`${path}/items`, { items: [user("Hi")] }), unknown);
    await checkReply(await theirs.post(`${path}/items`, { items: [user("Hi", { id: "msg_secret" })] }), unknown);
    await checkReply(await theirs.fetch(`${path}/items/msg_secret`), unknown);
    await checkReply(await theirs.fetch(`${path}/items/msg_secret`, { method: "DELETE" }), unknown);
    for (const members of [{}, { store: false }, { background: true }, { stream: true }]) {
      const body = { model: MODEL, input: "Hi", conversation: asked, ...members };
      await checkReply(await theirs.post("/v1/responses", body), unknown);
    }
  }
  expect(await calls.texts(id)).toEqual(["Secret"]);
});

test("another owner's items cannot be referred to", async () => {
  await calls.create({ items: [user("Secret", { id: "msg_hidden" })] });
  const theirs = as(KEYS.theirs);
  const input = [{ type: "item_reference", id: "msg_hidden" }];
  expect((await theirs.post("/v1/responses", { model: MODEL, input })).status).toBe(404);
  expect((await theirs.post("/v1/conversations", { items: input })).status).toBe(404);
});
