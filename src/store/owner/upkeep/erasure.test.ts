import { expect } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { Store } from "../../open-store.ts";
import { numbersFrom, openTestStore, runSql, storeRun, temporaryFile, testStores } from "../../store.fixture.ts";
import { anItem, aResponse, OURS } from "../../stored-shapes.fixture.ts";

/** Runs all steps. Returns how much was erased in total, and by the largest step. */
async function eraseAll({ erasure }: Store): Promise<{ readonly erased: number; readonly most: number }> {
  let erased = 0;
  let most = 0;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const step = await erasure.eraseUnused(cursor);
    erased += step.erased;
    most = Math.max(most, step.erased);
    cursor = step.next;
  }
  return { erased, most };
}

async function countRows(file: string, table: string): Promise<number> {
  const [row] = await runSql(file, `select count(*) as rows from ${table}`);
  return Number(row?.["rows"]);
}

async function begin({ conversations }: Store, id: string, items: readonly string[]): Promise<void> {
  const conversation = { id, object: "conversation", created_at: 1_760_000_000, metadata: {} } as const;
  await conversations.createConversation(
    OURS,
    conversation,
    items.map((item) => anItem(item)),
  );
}

testStores("the items of a deleted conversation are erased in small steps, and those of others stay", async () => {
  verifies("state.erasure.deleted-conversations");
  const file = temporaryFile();
  const store = await openTestStore({ file });
  const many = numbersFrom(1, 1_000).map((number) => `msg_${number}`);
  await begin(store, "conv_1", many);
  await begin(store, "conv_2", ["msg_kept"]);
  await store.conversations.deleteConversation(OURS, "conv_1");
  expect(await eraseAll(store)).toEqual({ erased: 1_000, most: 200 });
  expect(await countRows(file, "conversation_items")).toBe(1);
  expect(await countRows(file, "deleted_conversations")).toBe(0);
  expect(await eraseAll(store)).toEqual({ erased: 0, most: 0 });
});

testStores(
  "they stay for as long as a response is there that was made in the conversation, or one that continues it",
  async () => {
    verifies("state.erasure.deleted-conversations");
    const file = temporaryFile();
    const store = await openTestStore({ file });
    await begin(store, "conv_1", ["msg_1"]);
    const response = aResponse("resp_1", { conversation: { id: "conv_1" } });
    await store.events.open({ owner: OURS, response, inputItems: [anItem("msg_2")] }, []);
    await store.events.close("resp_1", [], { response: { ...response, status: "completed" }, outputItems: [] });
    await storeRun(store.events, "resp_2", { previous: "resp_1" });
    await store.conversations.deleteConversation(OURS, "conv_1");
    for (const deleted of ["resp_1", "resp_2"]) {
      expect((await eraseAll(store)).erased).toBe(0);
      expect(await countRows(file, "conversation_items")).toBe(2);
      await store.responses.deleteResponse(OURS, deleted);
    }
    expect((await eraseAll(store)).erased).toBe(3);
    for (const table of ["conversation_items", "items", "ancestors"]) expect(await countRows(file, table)).toBe(0);
  },
);

testStores(
  "what a deleted response held goes with the last response that continues it, however long the chain",
  async () => {
    verifies("state.erasure.deleted-ancestors");
    const file = temporaryFile();
    const store = await openTestStore({ file });
    const ids = numbersFrom(1, 50).map((number) => `resp_${number}`);
    for (const [index, id] of ids.entries())
      await storeRun(store.events, id, { ...(index > 0 && { previous: `resp_${index}` }), input: [`msg_${id}`] });
    await storeRun(store.events, "resp_branch", { previous: "resp_10" });
    for (const id of ids) await store.responses.deleteResponse(OURS, id);
    expect(await eraseAll(store)).toEqual({ erased: 39, most: 1 });
    expect(await store.responses.loadChain(OURS, "resp_branch")).toHaveLength(11);
    expect(await store.responses.loadChain(OURS, "resp_10")).toBeNull();
    await store.responses.deleteResponse(OURS, "resp_branch");
    expect((await eraseAll(store)).erased).toBe(10);
    for (const table of ["items", "ancestors", "responses"]) expect(await countRows(file, table)).toBe(0);
  },
);

testStores(
  "what expires lets go of deleted responses before it, and stays itself while a deleted one continues it",
  async () => {
    verifies("state.erasure.deleted-ancestors");
    const file = temporaryFile();
    const store = await openTestStore({ file });
    for (const [id, previous] of [["resp_1"], ["resp_2", "resp_1"], ["resp_3", "resp_2"]])
      await storeRun(store.events, id ?? "", previous === undefined ? {} : { previous });
    await store.responses.deleteResponse(OURS, "resp_2");
    const old = 1_760_000_001;
    expect((await store.expiry.deleteExpired(old, null)).deleted).toBe(1);
    expect((await eraseAll(store)).erased).toBe(1);
    expect((await store.expiry.deleteExpired(old, null)).deleted).toBe(1);
    for (const table of ["items", "ancestors", "responses"]) expect(await countRows(file, table)).toBe(0);
  },
);
