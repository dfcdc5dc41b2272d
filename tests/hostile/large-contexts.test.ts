import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { checkReply, MODEL } from "../responses/check-refusal.ts";
import { readItemList } from "../responses/read-item-list.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

const CONTEXT_BYTES_MAX = 100_000;
const LONG = "x".repeat(40_000);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    env: { CONTEXT_BYTES_MAX: String(CONTEXT_BYTES_MAX) },
    scenario: JSON.stringify({ scenarios: [{ when: { input_contains: "x" }, events: [{ text: "Well." }] }] }),
  });
});
afterAll(() => server.close());

const refusal = (param: string) => ({ status: 400, code: "context_length_exceeded", param, message: /more text than/ });

async function create(members: object) {
  return await server.post("/v1/responses", { model: MODEL, input: LONG, ...members });
}

test("a chain that holds too much is refused wherever it is read, and its last link can still be listed", async () => {
  verifies("state.context.budget");
  let last = await readResponse(await create({}));
  for (let link = 0; link < 2; link++) last = await readResponse(await create({ previous_response_id: last.id }));
  const after = { previous_response_id: last.id };
  await checkReply(await create(after), refusal("previous_response_id"));
  await checkReply(await create({ ...after, store: false, stream: true }), refusal("previous_response_id"));
  const count = await server.post("/v1/responses/input_tokens", { model: MODEL, input: "Hi", ...after });
  await checkReply(count, refusal("previous_response_id"));
  const listed = await readItemList(await server.fetch(`/v1/responses/${last.id}/input_items?history=true&order=asc`));
  expect(listed.data).toHaveLength(5);
});

test("a conversation that holds too much is refused, and can be listed and shortened", async () => {
  verifies("state.context.budget");
  const { id } = await (await server.post("/v1/conversations", {})).json();
  for (let turn = 0; turn < 3; turn++) await readResponse(await create({ conversation: id }));
  await checkReply(await create({ conversation: id }), refusal("conversation"));
  const { data } = await readItemList(await server.fetch(`/v1/conversations/${id}/items?order=asc`));
  const [first] = data;
  await server.fetch(`/v1/conversations/${id}/items/${first?.id}`, { method: "DELETE" });
  expect((await readResponse(await create({ conversation: id, input: "Hi" }))).status).toBe("completed");
});

test("items named by references count too", async () => {
  verifies("state.context.budget");
  const ids: string[] = [];
  for (let time = 0; time < 3; time++) {
    const { id } = await readResponse(await create({}));
    const { data } = await readItemList(await server.fetch(`/v1/responses/${id}/input_items`));
    ids.push(data[0]?.id ?? "");
  }
  const references = ids.map((id) => ({ type: "item_reference", id }));
  await checkReply(await create({ input: references }), refusal("input"));
  expect((await readResponse(await create({ input: references.slice(0, 2) }))).status).toBe("completed");
});
