import type { ResponseExchange } from "@antiphon/contracts/responses-api/types.ts";
import type { ResponseFilter } from "@antiphon/domain/inspection.ts";
import type { FinishedExchange } from "@antiphon/domain/tool-ledger.ts";
import { expect } from "vitest";
import { openTestStore, runSql, storeRun, temporaryFile, testStores } from "../../store.fixture.ts";
import { anItem, aResponse, OTHERS, OURS } from "../../stored-shapes.fixture.ts";
import { ALL } from "./response-filter.fixture.ts";

const FIRST = { order: "desc", limit: 10, after: null } as const;
const CREATED = 1_760_000_000;

testStores("results of tools are read as the model was shown them, by their owner only", async () => {
  const { archive, tools } = await openTestStore();
  const call = {
    callId: "c",
    name: "file_search",
    server: null,
    arguments: "{}",
    effect: "none",
    turn: 1,
    attempts: [],
  } as const;
  const result: Omit<FinishedExchange, "itemId" | "output"> = {
    item: { id: "fs_1", type: "file_search_call", status: "completed", queries: ["owls"], results: null },
    parts: [],
    usage: null,
    outcome: "finished",
  };
  for (const itemId of ["fs_1", "fs_2", "fs_3"])
    await tools.begin(OURS, "resp_1", { ...call, itemId, approvalRequestId: null });
  await tools.finish(OURS, "resp_1", { ...result, itemId: "fs_1", output: "x".repeat(65_537) }, []);
  await tools.finish(OURS, "resp_1", { ...result, itemId: "fs_2", output: "Owls hunt." }, []);
  expect(await archive.listToolResults(OURS, "resp_1")).toEqual([
    { item_id: "fs_1", text: "x".repeat(65_536), is_truncated: true },
    { item_id: "fs_2", text: "Owls hunt.", is_truncated: false },
  ]);
  for (const owner of OTHERS) expect(await archive.listToolResults(owner, "resp_1")).toEqual([]);
});

testStores("every filter of the list is understood, and other owners see nothing", async () => {
  const { archive, events } = await openTestStore();
  const origin = { kind: "websocket", keyId: "key_1", notes: [] } as const;
  const metadata = { topic: 'a "b" \u0000%_' };
  const response = aResponse("resp_1", { metadata });
  await events.open({ owner: OURS, response, inputItems: [anItem("msg_1", "The Tide_turns 50%")], origin }, []);
  await storeRun(events, "resp_2", { input: ["msg_2"], output: ["msg_3"] });
  const listed = async (filter: Partial<ResponseFilter>) =>
    (await archive.list(OURS, { ...FIRST, filter: { ...ALL, ...filter } }))?.responses.map(({ id }) => id);
  expect(await listed({})).toEqual(["resp_2", "resp_1"]);
  expect(await listed({ statuses: ["in_progress", "queued"] })).toEqual(["resp_1"]);
  expect(await listed({ kind: "websocket", keyId: "key_1", isBackground: false })).toEqual(["resp_1"]);
  expect(await listed({ kind: "background" })).toEqual([]);
  expect(await listed({ metadata })).toEqual(["resp_1"]);
  expect(await listed({ words: ["tide_", "50%"] })).toEqual(["resp_1"]);
  expect(await listed({ words: ["out", "resp_2"] })).toEqual(["resp_2"]);
  expect(await listed({ previousId: "resp_1" })).toEqual([]);
  expect(await listed({ words: ["tide%turns"] })).toEqual([]);
  expect(await listed({ createdAfter: CREATED, createdBefore: CREATED + 1, model: "m" })).toHaveLength(2);
  for (const owner of OTHERS) {
    expect(await archive.list(owner, { ...FIRST, filter: ALL })).toMatchObject({ responses: [] });
    expect(await archive.list(owner, { ...FIRST, filter: ALL, after: "resp_1" })).toBeNull();
    expect(await archive.findRecord(owner, "resp_1")).toBeNull();
  }
});

testStores("a search over many responses goes on page by page, and counts see all of them", async () => {
  const file = temporaryFile();
  const { archive, events } = await openTestStore({ file });
  const count = 2_500;
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      storeRun(events, `resp_${index}`, { input: index % 1_000 === 7 ? [`msg_${index}`] : [] }),
    ),
  );
  await runSql(file, "update responses set duration_ms = number, input_tokens = 2 where status = 'completed'");
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const page = await archive.list(OURS, { order: "asc", limit: 2, after, filter: { ...ALL, words: ["in"] } });
    found.push(...(page?.responses.map(({ id }) => id) ?? []));
    if (page?.hasMore !== true) break;
    after = page.lastId;
  }
  expect(found.toSorted()).toEqual(["resp_1007", "resp_2007", "resp_7"]);
  const span = { from: CREATED - 10, bucketSeconds: 20 };
  const filter = { ...ALL, createdAfter: CREATED - 10, createdBefore: CREATED + 10 };
  const counts = await archive.count(OURS, { ...span, filter });
  expect(counts.isPartial).toBe(false);
  expect(counts.buckets.get(0)).toMatchObject({ runs: count, failed: 0, inputTokens: 2 * count, outputTokens: 0 });
  expect(counts.models.get("m")?.durationsMs).toHaveLength(count);
  const failed = await archive.count(OURS, { ...span, filter: { ...filter, statuses: ["failed"] } });
  expect(failed.models.size).toBe(0);
});

testStores("the responses that continue another are found by pages, however many others there are", async () => {
  const { archive, events } = await openTestStore();
  await storeRun(events, "resp_first");
  await storeRun(events, "resp_other", { previous: "resp_none" });
  const later = Array.from({ length: 5 }, (_, index) => `resp_${index}`);
  for (const id of later) await storeRun(events, id, { previous: "resp_first", input: [`msg_${id}`] });
  const filter = { ...ALL, previousId: "resp_first" };
  const read: string[] = [];
  for (let after: string | null = null; ; ) {
    const page = await archive.list(OURS, { order: "asc", limit: 2, after, filter });
    read.push(...(page?.responses.map(({ id }) => id) ?? []));
    if (page?.hasMore !== true) break;
    after = page.lastId;
  }
  expect(read).toEqual(later);
  const words = {
    ...FIRST,
    filter: { ...filter, words: ["resp_3"], createdAfter: CREATED, createdBefore: CREATED + 1 },
  };
  expect((await archive.list(OURS, words))?.responses.map(({ id }) => id)).toEqual(["resp_3"]);
  const span = { from: CREATED - 10, bucketSeconds: 20 };
  const counts = await archive.count(OURS, { ...span, filter });
  expect(counts.models.get("m")?.runs).toBe(later.length);
  for (const owner of OTHERS) expect(await archive.list(owner, { ...FIRST, filter })).toMatchObject({ responses: [] });
});

const BODY = { encoding: "utf-8", text: "a\u0000b", bytes: 3, is_truncated: false } as const;

function exchange(id: string, created_at: number, text: string = BODY.text): ResponseExchange {
  const request = { method: "POST", url: "http://m/v1", headers: {}, body: { ...BODY, text } };
  const reply = { response: null, first_byte_ms: null, duration_ms: 5, error: "gone" };
  return { id, object: "response.exchange", kind: "model", turn: 1, created_at, request, ...reply };
}

testStores("exchanges belong to an owner, go with their response, and expire", async () => {
  const { exchanges, events, responses } = await openTestStore();
  await storeRun(events, "resp_1");
  await exchanges.add(OURS, "resp_1", exchange("exch_1", CREATED));
  await exchanges.add(OURS, "resp_1", exchange("exch_2", CREATED + 5));
  expect(await exchanges.list(OURS, "resp_1")).toEqual([exchange("exch_1", CREATED), exchange("exch_2", CREATED + 5)]);
  for (const owner of OTHERS) {
    await exchanges.remove(owner, "resp_1");
    expect(await exchanges.list(owner, "resp_1")).toEqual([]);
  }
  expect(await exchanges.deleteExpired(CREATED + 5)).toBe(1);
  expect(await exchanges.deleteExpired(CREATED + 5)).toBe(0);
  expect((await exchanges.list(OURS, "resp_1")).map(({ id }) => id)).toEqual(["exch_2"]);
  await responses.deleteResponse(OURS, "resp_1");
  expect(await exchanges.list(OURS, "resp_1")).toEqual([]);
});

testStores("the oldest exchanges of an owner go when there are too many bytes, and those of others stay", async () => {
  const { exchanges, events } = await openTestStore({ ownerExchangeBytesMax: 3_000 });
  await storeRun(events, "resp_1");
  const [other] = OTHERS;
  if (other === undefined) throw new Error("there are other owners");
  await exchanges.add(other, "resp_1", exchange("exch_other", CREATED, "x".repeat(1_000)));
  for (let number = 0; number < 10; number++)
    await exchanges.add(OURS, "resp_1", exchange(`exch_${number}`, CREATED, "x".repeat(1_000)));
  const left = (await exchanges.list(OURS, "resp_1")).map(({ id }) => id);
  expect(left.length).toBeLessThan(5);
  expect(left.at(-1)).toBe("exch_9");
  expect(await exchanges.list(other, "resp_1")).toHaveLength(1);
});
