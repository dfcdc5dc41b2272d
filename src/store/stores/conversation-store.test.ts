import { jsonOf } from "@antiphon/base/json/json-text.ts";
import type { Conversation } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ItemPage, PageRequest } from "@antiphon/domain/responses.ts";
import { ContextTooLong } from "@antiphon/domain/storage.ts";
import { expect, test } from "vitest";
import { cpuMsOf, leastOf } from "../../../tests/kit/cpu-time.ts";
import { RunLost } from "../../runs/ports/store-faults.ts";
import { claimUnmade } from "../claim-unmade.fixture.ts";
import type { Store } from "../open-store.ts";
import { numbersFrom, openTestStore, runSql, storeRun, temporaryFile, testStores } from "../store.fixture.ts";
import { anItem, aResponse, OTHERS, OURS } from "../stored-shapes.fixture.ts";

const NEWEST: PageRequest = { limit: 100, order: "desc", after: null };
const OLDEST: PageRequest = { limit: 100, order: "asc", after: null };

function aConversation(id: string, metadata: Conversation["metadata"] = {}): Conversation {
  return { id, object: "conversation", created_at: 1_760_000_000, metadata };
}

async function begin({ conversations }: Store, id: string, items: readonly string[] = [], owner = OURS) {
  const stored = items.map((item) => anItem(item, `in ${id}`));
  await conversations.createConversation(owner, aConversation(id), stored);
}

async function idsIn({ conversations }: Store, id: string, owner: Owner = OURS): Promise<readonly string[]> {
  return (await conversations.loadItems(owner, id))?.items.map((item) => item.id) ?? ["unknown"];
}

/** Starts a response in a conversation. */
async function open({ events }: Store, responseId: string, conversation: string, input: readonly string[] = []) {
  const response = aResponse(responseId, { conversation: { id: conversation } });
  const inputItems = input.map((item) => anItem(item));
  await events.open({ owner: OURS, response, inputItems, task: null, streamed: false }, []);
}

async function close(
  { events }: Store,
  responseId: string,
  conversation: string,
  end: { readonly status: string; readonly output?: readonly string[] },
) {
  const response = aResponse(responseId, { conversation: { id: conversation }, status: end.status });
  await events.close(responseId, [], { response, outputItems: (end.output ?? []).map((item) => anItem(item)) });
}

async function letLeasesRunOut(file: string): Promise<void> {
  await runSql(file, "update workers set expires_at = 0 where id = 1");
}

testStores("a conversation is found as it was stored, and its metadata as they were replaced", async () => {
  const { conversations } = await openTestStore();
  await conversations.createConversation(OURS, aConversation("conv_1", { a: "1" }), []);
  expect(await conversations.findConversation(OURS, "conv_1")).toEqual(aConversation("conv_1", { a: "1" }));
  expect(await conversations.replaceMetadata(OURS, "conv_1", { b: "2" })).toBeNull();
  expect(await conversations.findConversation(OURS, "conv_1")).toEqual(aConversation("conv_1", { b: "2" }));
});

testStores("items that were loaded before are not read again", async () => {
  const store = await openTestStore();
  await begin(store, "conv_1", ["msg_1", "msg_2"]);
  const before = await store.conversations.loadItems(OURS, "conv_1");
  await store.conversations.addItems(OURS, "conv_1", [anItem("msg_3")]);
  const after = await store.conversations.loadItems(OURS, "conv_1");
  expect(after?.items.map((item, place) => item === before?.items[place])).toEqual([true, true, false]);
  expect(await idsIn(store, "conv_1")).toEqual(["msg_1", "msg_2", "msg_3"]);
  expect(await idsIn(store, "conv_1", OTHERS[0])).toEqual(["unknown"]);
});

testStores(
  "items that another worker has deleted or replaced are noticed, also where their numbers are used again",
  async () => {
    const file = temporaryFile();
    const store = await openTestStore({ file });
    const other = await openTestStore({ file });
    await begin(store, "conv_1", ["msg_1", "msg_2", "msg_3"]);
    await idsIn(store, "conv_1");
    await other.conversations.deleteItem(OURS, "conv_1", "msg_3");
    await other.conversations.addItems(OURS, "conv_1", [anItem("msg_4", "in conv_1")]);
    expect(await idsIn(store, "conv_1")).toEqual(["msg_1", "msg_2", "msg_4"]);
    await other.conversations.deleteItem(OURS, "conv_1", "msg_1");
    expect(await idsIn(store, "conv_1")).toEqual(["msg_2", "msg_4"]);
  },
);

testStores("items keep the order in which they were stored, and their JSON", async () => {
  const store = await openTestStore();
  const { conversations } = store;
  await begin(store, "conv_1", ["msg_9", "msg_1"]);
  await begin(store, "conv_2", ["msg_9"]);
  expect(await conversations.addItems(OURS, "conv_1", [anItem("msg_5"), anItem("msg_0")])).toBeNull();
  expect(await idsIn(store, "conv_1")).toEqual(["msg_9", "msg_1", "msg_5", "msg_0"]);
  const found = await conversations.findItem(OURS, "conv_1", "msg_5");
  expect(jsonOf(found ?? {})).toBe(JSON.stringify(anItem("msg_5")));
  expect(await conversations.findItem(OURS, "conv_2", "msg_5")).toBeNull();
});

testStores("what belongs to another owner is unknown to every method", async () => {
  const store = await openTestStore();
  const { conversations, responses } = store;
  await begin(store, "conv_1", ["msg_1"]);
  const unknown = { reason: "unknown" };
  for (const other of OTHERS) {
    expect(await conversations.findConversation(other, "conv_1")).toBeNull();
    expect(await conversations.replaceMetadata(other, "conv_1", { a: "1" })).toEqual(unknown);
    expect(await conversations.deleteConversation(other, "conv_1")).toEqual(unknown);
    expect(await conversations.addItems(other, "conv_1", [anItem("msg_2")])).toEqual(unknown);
    expect(await conversations.deleteItem(other, "conv_1", "msg_1")).toEqual(unknown);
    expect(await conversations.findItem(other, "conv_1", "msg_1")).toBeNull();
    expect(await conversations.listItems(other, "conv_1", NEWEST)).toBeNull();
    expect(await conversations.loadItems(other, "conv_1")).toBeNull();
    expect(await conversations.lock(other, "conv_1", "resp_1")).toEqual(unknown);
    expect((await responses.findItems(other, ["msg_1"])).size).toBe(0);
  }
  expect(await conversations.findConversation(OURS, "conv_1")).toEqual(aConversation("conv_1"));
  expect(await idsIn(store, "conv_1")).toEqual(["msg_1"]);
});

testStores("items are added all or none: an id that is there already refuses them all", async () => {
  const store = await openTestStore();
  await begin(store, "conv_1", ["msg_1"]);
  const refused = await store.conversations.addItems(OURS, "conv_1", [anItem("msg_2"), anItem("msg_1")]);
  expect(refused).toEqual({ reason: "duplicate_item", itemId: "msg_1" });
  expect(await idsIn(store, "conv_1")).toEqual(["msg_1"]);
});

testStores("an item that is deleted is gone, and can be added again", async () => {
  const store = await openTestStore();
  const { conversations } = store;
  await begin(store, "conv_1", ["msg_1", "msg_2"]);
  expect(await conversations.deleteItem(OURS, "conv_1", "msg_1")).toBeNull();
  expect(await conversations.deleteItem(OURS, "conv_1", "msg_1")).toEqual({ reason: "unknown_item" });
  expect(await idsIn(store, "conv_1")).toEqual(["msg_2"]);
  expect(await conversations.addItems(OURS, "conv_1", [anItem("msg_1")])).toBeNull();
  expect(await idsIn(store, "conv_1")).toEqual(["msg_2", "msg_1"]);
});

testStores("a deleted conversation is unknown, and its items are still referred to by their ids", async () => {
  const store = await openTestStore();
  const { conversations, responses } = store;
  await begin(store, "conv_1", ["msg_1"]);
  expect(await conversations.deleteConversation(OURS, "conv_1")).toBeNull();
  expect(await conversations.deleteConversation(OURS, "conv_1")).toEqual({ reason: "unknown" });
  expect(await conversations.findConversation(OURS, "conv_1")).toBeNull();
  expect(await conversations.loadItems(OURS, "conv_1")).toBeNull();
  expect(await conversations.listItems(OURS, "conv_1", NEWEST)).toBeNull();
  expect(await conversations.findItem(OURS, "conv_1", "msg_1")).toBeNull();
  expect([...(await responses.findItems(OURS, ["msg_1"])).keys()]).toEqual(["msg_1"]);
});

testStores(
  "of a response's items and a conversation's the response's are found by a shared id, and the newest of two conversations'",
  async () => {
    const store = await openTestStore();
    await begin(store, "conv_1", ["msg_1", "msg_2"]);
    await begin(store, "conv_2", ["msg_2"]);
    await storeRun(store.events, "resp_1", { output: ["msg_1"] });
    expect(Object.fromEntries(await store.responses.findItems(OURS, ["msg_1", "msg_2"]))).toEqual({
      msg_1: anItem("msg_1", "out resp_1"),
      msg_2: anItem("msg_2", "in conv_2"),
    });
  },
);

testStores.each([
  { order: "asc", ids: ["msg_1", "msg_2", "msg_3", "msg_4", "msg_5"] },
  { order: "desc", ids: ["msg_5", "msg_4", "msg_3", "msg_2", "msg_1"] },
] as const)("pages in order $order give each item once, also while others are added", async ({ order, ids }) => {
  const store = await openTestStore();
  const { conversations } = store;
  await begin(store, "conv_1", ["msg_1", "msg_2", "msg_3", "msg_4", "msg_5"]);
  const seen: string[] = [];
  let page: ItemPage | null = { items: [], hasMore: true };
  while (page !== null && page.hasMore) {
    page = await conversations.listItems(OURS, "conv_1", { limit: 2, order, after: seen.at(-1) ?? null });
    seen.push(...(page?.items ?? []).map(({ id }) => id));
    if (seen.length < 4) await conversations.addItems(OURS, "conv_1", [anItem(`msg_new_${seen.length}`)]);
  }
  expect(seen.filter((id) => !id.startsWith("msg_new"))).toEqual(ids);
  expect(new Set(seen).size).toBe(seen.length);
  expect(await conversations.listItems(OURS, "conv_1", { ...NEWEST, after: "msg_of_nobody" })).toBeNull();
});

testStores.each(["completed", "incomplete"])(
  "a %s response adds its input and its output when it ends, not before",
  async (status) => {
    const store = await openTestStore();
    await begin(store, "conv_1", ["msg_0"]);
    expect(await store.conversations.lock(OURS, "conv_1", "resp_1")).toBeNull();
    await open(store, "resp_1", "conv_1", ["msg_2", "msg_1"]);
    expect(await idsIn(store, "conv_1")).toEqual(["msg_0"]);
    await close(store, "resp_1", "conv_1", { status, output: ["msg_4", "msg_3"] });
    expect(await idsIn(store, "conv_1")).toEqual(["msg_0", "msg_2", "msg_1", "msg_4", "msg_3"]);
    expect(await store.responses.deleteResponse(OURS, "resp_1")).toBe(true);
    expect(await idsIn(store, "conv_1")).toEqual(["msg_0", "msg_2", "msg_1", "msg_4", "msg_3"]);
  },
);

testStores.each(["failed", "cancelled"])("a %s response adds nothing and frees the conversation", async (status) => {
  const store = await openTestStore();
  await begin(store, "conv_1", ["msg_0"]);
  await store.conversations.lock(OURS, "conv_1", "resp_1");
  await open(store, "resp_1", "conv_1", ["msg_1"]);
  await close(store, "resp_1", "conv_1", { status, output: ["msg_2"] });
  expect(await idsIn(store, "conv_1")).toEqual(["msg_0"]);
  expect(await store.conversations.lock(OURS, "conv_1", "resp_2")).toBeNull();
});

testStores(
  "while one response holds a conversation nobody else changes its items, and its metadata can be changed",
  async () => {
    const store = await openTestStore();
    const { conversations } = store;
    await begin(store, "conv_1", ["msg_0"]);
    const locked = { reason: "locked" };
    expect(await conversations.lock(OURS, "conv_1", "resp_1")).toBeNull();
    for (const isStored of [false, true]) {
      if (isStored) await open(store, "resp_1", "conv_1", ["msg_1"]);
      expect(await conversations.lock(OURS, "conv_1", "resp_2")).toEqual(locked);
      expect(await conversations.addItems(OURS, "conv_1", [anItem("msg_9")])).toEqual(locked);
      expect(await conversations.deleteItem(OURS, "conv_1", "msg_0")).toEqual(locked);
      expect(await conversations.deleteItem(OURS, "conv_1", "msg_none")).toEqual({ reason: "unknown_item" });
      expect(await conversations.deleteConversation(OURS, "conv_1")).toEqual(locked);
      expect(await conversations.replaceMetadata(OURS, "conv_1", {})).toBeNull();
    }
    await close(store, "resp_1", "conv_1", { status: "completed" });
    expect(await conversations.addItems(OURS, "conv_1", [anItem("msg_9")])).toBeNull();
    expect(await idsIn(store, "conv_1")).toEqual(["msg_0", "msg_1", "msg_9"]);
  },
);

testStores("a hold is given up by its response alone", async () => {
  const store = await openTestStore();
  const { conversations } = store;
  await begin(store, "conv_1");
  await conversations.lock(OURS, "conv_1", "resp_1");
  await conversations.unlock(OURS, "conv_1", "resp_2");
  expect(await conversations.lock(OURS, "conv_1", "resp_2")).toEqual({ reason: "locked" });
  await conversations.unlock(OURS, "conv_1", "resp_1");
  expect(await conversations.lock(OURS, "conv_1", "resp_2")).toBeNull();
});

testStores("of many who want a conversation at once one gets it", async () => {
  const store = await openTestStore();
  await begin(store, "conv_1");
  const wanted = numbersFrom(1, 50).map((number) => store.conversations.lock(OURS, "conv_1", `resp_${number}`));
  expect((await Promise.all(wanted)).filter((refusal) => refusal === null)).toHaveLength(1);
});

testStores(
  "deleting a response that is being made frees its conversation, and does not free it for another owner",
  async () => {
    const store = await openTestStore();
    await begin(store, "conv_1");
    await store.conversations.lock(OURS, "conv_1", "resp_1");
    await open(store, "resp_1", "conv_1", ["msg_1"]);
    for (const other of OTHERS) expect(await store.responses.deleteResponse(other, "resp_1")).toBe(false);
    expect(await store.conversations.lock(OURS, "conv_1", "resp_2")).toEqual({ reason: "locked" });
    expect(await store.responses.deleteResponse(OURS, "resp_1")).toBe(true);
    await expect(close(store, "resp_1", "conv_1", { status: "completed", output: ["msg_2"] })).rejects.toThrow(RunLost);
    expect(await idsIn(store, "conv_1")).toEqual([]);
    expect(await store.conversations.lock(OURS, "conv_1", "resp_2")).toBeNull();
  },
);

testStores("an end that comes second adds nothing", async () => {
  const store = await openTestStore();
  await begin(store, "conv_1");
  await open(store, "resp_1", "conv_1", ["msg_1"]);
  const ends = [
    close(store, "resp_1", "conv_1", { status: "completed", output: ["msg_2"] }),
    close(store, "resp_1", "conv_1", { status: "completed", output: ["msg_2"] }),
  ];
  expect((await Promise.allSettled(ends)).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await idsIn(store, "conv_1")).toEqual(["msg_1", "msg_2"]);
});

testStores(
  "an item that stands in the conversation already is not doubled by a response, whose commit succeeds for all",
  async () => {
    const store = await openTestStore();
    await begin(store, "conv_1", ["msg_1"]);
    await open(store, "resp_1", "conv_1", ["msg_1", "msg_2"]);
    const closed = close(store, "resp_1", "conv_1", { status: "completed" });
    const created = begin(store, "conv_2");
    await Promise.all([closed, created]);
    expect(await idsIn(store, "conv_1")).toEqual(["msg_1", "msg_2"]);
  },
);

testStores("200 writers at once lose nothing, double nothing and do not mix their items", async () => {
  const store = await openTestStore();
  await begin(store, "conv_1");
  const added = numbersFrom(1, 200).map((writer) =>
    store.conversations.addItems(
      OURS,
      "conv_1",
      numbersFrom(1, 3).map((item) => anItem(`msg_${writer}_${item}`)),
    ),
  );
  expect(new Set(await Promise.all(added))).toEqual(new Set([null]));
  const ids = await idsIn(store, "conv_1");
  expect(ids).toEqual(
    numbersFrom(1, 200).flatMap((writer) => numbersFrom(1, 3).map((item) => `msg_${writer}_${item}`)),
  );
});

testStores(
  "what a killed worker held before its response was stored is free again, and what a stored response holds is not",
  async () => {
    const file = temporaryFile();
    const killed = await openTestStore({ file });
    await begin(killed, "conv_1");
    await begin(killed, "conv_2");
    await killed.conversations.lock(OURS, "conv_1", "resp_1");
    await killed.conversations.lock(OURS, "conv_2", "resp_2");
    await open(killed, "resp_2", "conv_2", ["msg_1"]);

    const store = await openTestStore({ file });
    expect(await store.conversations.lock(OURS, "conv_1", "resp_3")).toEqual({ reason: "locked" });
    await letLeasesRunOut(file);
    const claimed = await claimUnmade(store.ledger, 10);
    expect(claimed.map(({ response }) => response.id)).toEqual(["resp_2"]);
    expect(await store.conversations.lock(OURS, "conv_1", "resp_3")).toBeNull();
    expect(await store.conversations.lock(OURS, "conv_2", "resp_3")).toEqual({ reason: "locked" });
    await close(store, "resp_2", "conv_2", { status: "failed" });
    expect(await store.conversations.lock(OURS, "conv_2", "resp_4")).toBeNull();
    expect(await idsIn(store, "conv_2")).toEqual([]);
  },
);

testStores(
  "a conversation of more text than may be brought into memory at once is refused as a whole, and still paged",
  async () => {
    const store = await openTestStore({ contextBytesMax: 1_000 });
    await begin(store, "conv_1", ["msg_1"]);
    await store.conversations.addItems(OURS, "conv_1", [anItem("msg_2", "x".repeat(1_000))]);
    await expect(store.conversations.loadItems(OURS, "conv_1")).rejects.toThrow(ContextTooLong);
    expect((await store.conversations.listItems(OURS, "conv_1", NEWEST))?.items).toHaveLength(2);
    await store.conversations.deleteItem(OURS, "conv_1", "msg_2");
    expect(await idsIn(store, "conv_1")).toEqual(["msg_1"]);
  },
);

test("a conversation of 5,000 items is read at once and paged in no time", async () => {
  const store = await openTestStore();
  await begin(store, "conv_1");
  for (const batch of numbersFrom(0, 49)) {
    const items = numbersFrom(1, 100).map((number) => anItem(`msg_${batch * 100 + number}`, "x".repeat(200)));
    await store.conversations.addItems(OURS, "conv_1", items);
    await begin(
      store,
      `conv_other_${batch}`,
      numbersFrom(1, 100).map((number) => `msg_${number}`),
    );
  }
  const loading = async () => await store.conversations.loadItems(OURS, "conv_1");
  expect(await leastOf(5, async () => (await cpuMsOf(loading)).ms)).toBeLessThan(200);
  expect((await loading())?.items.map(({ id }) => id)).toEqual(numbersFrom(1, 5_000).map((number) => `msg_${number}`));
  const after = { ...OLDEST, after: "msg_4800" };
  const paging = async () => await store.conversations.listItems(OURS, "conv_1", after);
  expect(await leastOf(5, async () => (await cpuMsOf(paging)).ms)).toBeLessThan(20);
  expect((await paging())?.items.map(({ id }) => id)).toEqual(
    numbersFrom(4_801, 4_900).map((number) => `msg_${number}`),
  );
});

/** Stores a response that was kept in memory until its end. */
async function storeWhole(
  { events }: Store,
  responseId: string,
  conversation: string,
  items: readonly [string, string],
) {
  const [input, output] = items;
  const response = aResponse(responseId, { conversation: { id: conversation }, status: "completed" });
  const run = { owner: OURS, response, inputItems: [anItem(input)] };
  await events.storeWhole(run, [], { response, outputItems: [anItem(output)] });
}

testStores(
  "a response that is stored whole adds its items after those that it saw, and frees the conversation",
  async () => {
    const store = await openTestStore();
    await begin(store, "conv_1", ["msg_0"]);
    await store.conversations.lock(OURS, "conv_1", "resp_1");
    await storeWhole(store, "resp_1", "conv_1", ["msg_1", "msg_2"]);
    expect(await idsIn(store, "conv_1")).toEqual(["msg_0", "msg_1", "msg_2"]);
    const chain = await store.responses.loadChain(OURS, "resp_1");
    expect(chain?.[0]?.seenItems?.items.map(({ id }) => id)).toEqual(["msg_0"]);
    expect(await store.conversations.lock(OURS, "conv_1", "resp_2")).toBeNull();
  },
);

testStores("a response whose conversation another one has taken meanwhile is not stored whole", async () => {
  const file = temporaryFile();
  const slept = await openTestStore({ file });
  const other = await openTestStore({ file });
  await begin(slept, "conv_1");
  await slept.conversations.lock(OURS, "conv_1", "resp_1");
  await letLeasesRunOut(file);
  expect(await other.conversations.lock(OURS, "conv_1", "resp_2")).toBeNull();
  await expect(storeWhole(slept, "resp_1", "conv_1", ["msg_1", "msg_2"])).rejects.toThrow(RunLost);
  expect(await slept.responses.findResponse(OURS, "resp_1")).toBeNull();
  await storeWhole(other, "resp_2", "conv_1", ["msg_3", "msg_4"]);
  expect(await idsIn(other, "conv_1")).toEqual(["msg_3", "msg_4"]);
});
