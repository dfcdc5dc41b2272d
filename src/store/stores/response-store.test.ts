import { jsonOf } from "@antiphon/base/json/json-text.ts";
import type { InputPageRequest, ItemPage, ResponseStore } from "@antiphon/domain/responses.ts";
import { ContextTooLong } from "@antiphon/domain/storage.ts";
import { expect, test } from "vitest";
import { cpuMsOf, leastOf } from "../../../tests/kit/cpu-time.ts";
import { verifies } from "../../../tests/verifies.ts";
import { numbersFrom, openTestStore, storeRun, testStores } from "../store.fixture.ts";
import { anItem, aResponse, OTHERS, OURS } from "../stored-shapes.fixture.ts";

const FIRST_PAGE: InputPageRequest = { limit: 2, order: "asc", after: null, before: null, history: false };

function idsOf(items: readonly object[] | undefined): readonly unknown[] | undefined {
  return items?.map((item) => ("id" in item ? item.id : undefined));
}

/** The ids of each page, as a client that reads page after page gets them. */
async function pagesOf(
  responses: ResponseStore,
  responseId: string,
  page: Partial<InputPageRequest>,
): Promise<readonly (readonly unknown[])[]> {
  const pages: (readonly unknown[])[] = [];
  let after: string | null = null;
  for (;;) {
    const found: ItemPage | null = await responses.listInputItems(OURS, responseId, { ...FIRST_PAGE, ...page, after });
    const ids = idsOf(found?.items) ?? [];
    pages.push(ids);
    if (found === null || !found.hasMore || pages.length > 20) return pages;
    after = String(ids.at(-1));
  }
}

testStores("a response is found as it was stored last, with its JSON", async () => {
  const { events, responses } = await openTestStore();
  await events.open({ owner: OURS, response: aResponse("resp_1"), inputItems: [] }, []);
  expect(await responses.findResponse(OURS, "resp_1")).toEqual(aResponse("resp_1"));
  const response = aResponse("resp_1", {
    status: "completed",
    model: "m-2",
    completed_at: 1_760_000_003,
    output: [anItem("msg_1", "done")],
  });
  await events.close("resp_1", [], { response, outputItems: [] });
  const found = await responses.findResponse(OURS, "resp_1");
  expect(found).toEqual(response);
  expect(jsonOf(found ?? {})).toBe(JSON.stringify(response));
});

testStores("what belongs to another owner is unknown to every method", async () => {
  const { events, responses } = await openTestStore();
  await storeRun(events, "resp_1", { input: ["msg_1", "msg_2", "msg_3"], output: ["msg_4"] });
  await storeRun(events, "resp_2", { previous: "resp_1", input: ["msg_5"] });
  for (const other of OTHERS) {
    await storeRun(events, `resp_of_${other.organization}_${other.project}`, {
      owner: other,
      previous: "resp_1",
      input: ["msg_6"],
    });
    expect(await responses.findResponse(other, "resp_1")).toBeNull();
    expect(await responses.loadChain(other, "resp_2")).toBeNull();
    expect(await responses.loadChain(other, `resp_of_${other.organization}_${other.project}`)).toBeNull();
    expect(await responses.listInputItems(other, "resp_1", FIRST_PAGE)).toBeNull();
    expect(idsOf([...(await responses.findItems(other, ["msg_1", "msg_4", "msg_6"])).values()])).toEqual(["msg_6"]);
    expect(await responses.deleteResponse(other, "resp_1")).toBe(false);
  }
  expect((await responses.findItems(OURS, ["msg_6"])).size).toBe(0);
  expect(await responses.findResponse(OURS, "resp_1")).not.toBeNull();
});

testStores(
  "a response whose owner asks for it in vain is deleted neither while it lives nor in the same tick",
  async () => {
    const { events, responses } = await openTestStore();
    const [other = OURS] = OTHERS;
    const opened = events.open({ owner: OURS, response: aResponse("resp_1"), inputItems: [] }, []);
    expect(await responses.deleteResponse(other, "resp_1")).toBe(false);
    await opened;
    expect(await responses.deleteResponse(OURS, "resp_1")).toBe(true);
  },
);

testStores("deleting removes the response, its items and its events, once", async () => {
  const { events, responses } = await openTestStore();
  await storeRun(events, "resp_1", { input: ["msg_1"], output: ["msg_2"] });
  await storeRun(events, "resp_2", { input: ["msg_3"] });
  expect(await responses.deleteResponse(OURS, "resp_1")).toBe(true);
  expect(await responses.deleteResponse(OURS, "resp_1")).toBe(false);
  expect(await responses.findResponse(OURS, "resp_1")).toBeNull();
  expect(await responses.listInputItems(OURS, "resp_1", FIRST_PAGE)).toBeNull();
  expect([...(await responses.findItems(OURS, ["msg_1", "msg_2", "msg_3"])).keys()]).toEqual(["msg_3"]);
});

testStores("a chain is told from its oldest link, each with its input and then its output", async () => {
  const { events, responses } = await openTestStore();
  await storeRun(events, "resp_z", { input: ["msg_1", "msg_2"], output: ["msg_3", "msg_4"] });
  await storeRun(events, "resp_a", { previous: "resp_z", input: ["msg_5"], output: [] });
  await storeRun(events, "resp_m", { previous: "resp_a", input: [], output: ["msg_0"] });
  await storeRun(events, "resp_sibling", { previous: "resp_a", input: ["msg_9"] });
  const chain = await responses.loadChain(OURS, "resp_m");
  expect(chain?.map((link) => [link.responseId, link.status, idsOf(link.items)])).toEqual([
    ["resp_z", "completed", ["msg_1", "msg_2", "msg_3", "msg_4"]],
    ["resp_a", "completed", ["msg_5"]],
    ["resp_m", "completed", ["msg_0"]],
  ]);
});

testStores("a chain with an unknown link is no chain", async () => {
  const { events, responses } = await openTestStore();
  await storeRun(events, "resp_1");
  await storeRun(events, "resp_2", { previous: "resp_1" });
  await storeRun(events, "resp_3", { previous: "resp_2" });
  await storeRun(events, "resp_5", { previous: "resp_4_of_nobody" });
  expect(await responses.loadChain(OURS, "resp_unknown")).toBeNull();
  expect(await responses.loadChain(OURS, "resp_5")).toBeNull();
  expect(await responses.loadChain(OURS, "resp_3")).toHaveLength(3);
});

testStores("a chain that was read before is told as it is now", async () => {
  const { events, responses } = await openTestStore();
  const fields = { previous_response_id: "resp_1" };
  await storeRun(events, "resp_1", { input: ["msg_1"], output: ["msg_2"] });
  await events.open({ owner: OURS, response: aResponse("resp_2", fields), inputItems: [anItem("msg_3")] }, []);
  const told = async (): Promise<unknown> =>
    (await responses.loadChain(OURS, "resp_2"))?.map(({ status, items }) => [status, idsOf(items)]);
  const first = ["completed", ["msg_1", "msg_2"]];
  for (let time = 0; time < 2; time++) expect(await told()).toEqual([first, ["in_progress", ["msg_3"]]]);
  const response = aResponse("resp_2", { ...fields, status: "completed" });
  await events.close("resp_2", [], { response, outputItems: [anItem("msg_4")] });
  for (let time = 0; time < 2; time++) expect(await told()).toEqual([first, ["completed", ["msg_3", "msg_4"]]]);
  for (const other of OTHERS) expect(await responses.loadChain(other, "resp_2")).toBeNull();
  await responses.deleteResponse(OURS, "resp_1");
  expect(await told()).toEqual([first, ["completed", ["msg_3", "msg_4"]]]);
  await responses.deleteResponse(OURS, "resp_2");
  expect(await told()).toBeUndefined();
});

testStores("nobody can change the items of a chain for those who read it later", async () => {
  verifies("state.context.items-are-frozen");
  const { events, responses } = await openTestStore();
  await storeRun(events, "resp_1", { input: ["msg_1"], output: ["msg_2"] });
  const read = async () => (await responses.loadChain(OURS, "resp_1"))?.flatMap(({ items }) => items) ?? [];
  const before = JSON.stringify(await read());
  for (const item of await read()) {
    expect(() => Object.assign(item, { id: "msg_other" })).toThrow(TypeError);
    if (item.type !== "message") continue;
    expect(() => Object.assign(item.content[0] ?? {}, { text: "other" })).toThrow(TypeError);
    expect(() => item.content.pop()).toThrow(TypeError);
  }
  expect(JSON.stringify(await read())).toBe(before);
});

testStores("what is more than the budget of a context is refused unread, whether it is in memory or not", async () => {
  verifies("state.context.budget");
  const { events, responses } = await openTestStore({ contextBytesMax: 4_000 });
  const long = (id: string) => anItem(id, "x".repeat(1_500));
  for (const link of numbersFrom(1, 3)) {
    const fields = { previous_response_id: link === 1 ? null : `resp_${link - 1}` };
    const response = aResponse(`resp_${link}`, fields);
    await events.open({ owner: OURS, response, inputItems: [long(`msg_${link}`)] }, []);
    await events.close(`resp_${link}`, [], { response: { ...response, status: "completed" }, outputItems: [] });
  }
  expect(await responses.loadChain(OURS, "resp_2")).toHaveLength(2);
  for (let time = 0; time < 2; time++)
    await expect(responses.loadChain(OURS, "resp_3")).rejects.toThrow(ContextTooLong);
  expect(await responses.findItems(OURS, ["msg_1", "msg_2"])).toHaveLength(2);
  await expect(responses.findItems(OURS, ["msg_1", "msg_2", "msg_3"])).rejects.toThrow(ContextTooLong);
  const whole = { ...FIRST_PAGE, limit: 20, history: true };
  expect(idsOf((await responses.listInputItems(OURS, "resp_3", whole))?.items)).toEqual(["msg_1", "msg_2", "msg_3"]);
});

testStores("a page of long items ends before its limit, and the pages together hold them all", async () => {
  verifies("input-items.list.pages-are-bounded-in-bytes");
  const { events, responses } = await openTestStore();
  const ids = ["msg_1", "msg_2", "msg_3", "msg_4"];
  const inputItems = ids.map((id) => anItem(id, "x".repeat(id === "msg_4" ? 20_000_000 : 7_000_000)));
  await events.open({ owner: OURS, response: aResponse("resp_1"), inputItems }, []);
  const expected = [["msg_1", "msg_2"], ["msg_3"], ["msg_4"]];
  expect(await pagesOf(responses, "resp_1", { limit: 20 })).toEqual(expected);
  expect(await pagesOf(responses, "resp_1", { limit: 20, history: true })).toEqual(expected);
});

testStores("others get their turns while a long chain is read", async () => {
  verifies("state.context.read-in-slices");
  const { events, responses } = await openTestStore();
  const input = numbersFrom(1, 20_000).map((number) => `msg_${number}`);
  await storeRun(events, "resp_1", { input });
  let turns = 0;
  let isReading = true;
  const count = (): void => {
    turns += 1;
    if (isReading) setImmediate(count);
  };
  count();
  expect((await responses.loadChain(OURS, "resp_1"))?.[0]?.items).toHaveLength(20_000);
  isReading = false;
  expect(turns).toBeGreaterThanOrEqual(100);
});

test("a chain of 200 responses loads in well under a tenth of a second", async () => {
  const { events, responses } = await openTestStore({ commitIntervalMs: 0 });
  for (const link of numbersFrom(0, 199)) {
    await storeRun(events, `resp_${link}`, {
      ...(link > 0 && { previous: `resp_${link - 1}` }),
      input: [`msg_in_${link}`],
      output: [`msg_out_${link}`],
    });
  }
  const chain = await responses.loadChain(OURS, "resp_199");
  const loading = () => responses.loadChain(OURS, "resp_199");
  expect(await leastOf(5, async () => (await cpuMsOf(loading)).ms)).toBeLessThan(100);
  expect(chain?.map((link) => link.responseId)).toEqual(numbersFrom(0, 199).map((link) => `resp_${link}`));
  expect(idsOf(chain?.flatMap((link) => link.items))).toEqual(
    numbersFrom(0, 199).flatMap((link) => [`msg_in_${link}`, `msg_out_${link}`]),
  );
});

testStores.each([
  { order: "asc", limit: 2, pages: [["msg_1", "msg_2"], ["msg_3", "msg_4"], ["msg_5"]] },
  {
    order: "desc",
    limit: 3,
    pages: [
      ["msg_5", "msg_4", "msg_3"],
      ["msg_2", "msg_1"],
    ],
  },
  { order: "asc", limit: 5, pages: [["msg_1", "msg_2", "msg_3", "msg_4", "msg_5"]] },
] as const)("input items come in pages of $limit in order $order", async ({ order, limit, pages }) => {
  const { events, responses } = await openTestStore();
  await storeRun(events, "resp_0", { input: ["msg_0"], output: ["msg_00"] });
  await storeRun(events, "resp_1", {
    previous: "resp_0",
    input: ["msg_1", "msg_2", "msg_3", "msg_4", "msg_5"],
    output: ["msg_6"],
  });
  expect(await pagesOf(responses, "resp_1", { order, limit, after: null })).toEqual(pages);
});

testStores.each(["msg_unknown", "msg_out", "msg_of_another_response", ""])(
  "the cursor %j is unknown",
  async (after) => {
    const { events, responses } = await openTestStore();
    await storeRun(events, "resp_1", { input: ["msg_1"], output: ["msg_out"] });
    await storeRun(events, "resp_2", { input: ["msg_of_another_response"] });
    expect(
      await responses.listInputItems(OURS, "resp_1", { ...FIRST_PAGE, limit: 20, order: "desc", after }),
    ).toBeNull();
  },
);

testStores("a response without input has an empty page", async () => {
  const { events, responses } = await openTestStore();
  await storeRun(events, "resp_1");
  expect(await responses.listInputItems(OURS, "resp_1", FIRST_PAGE)).toEqual({ items: [], hasMore: false });
});

testStores.each(["asc", "desc"] as const)(
  "an id that stands twice in the input cannot make the pages go round in order %s",
  async (order) => {
    const { events, responses } = await openTestStore();
    await storeRun(events, "resp_1", { input: ["msg_1", "msg_2", "msg_1", "msg_3"] });
    expect((await pagesOf(responses, "resp_1", { order, limit: 1, after: null })).length).toBeLessThanOrEqual(4);
  },
);

testStores("of several items with one id the one stored last is found", async () => {
  const { events, responses } = await openTestStore();
  await storeRun(events, "resp_1", { output: ["msg_1"] });
  await storeRun(events, "resp_2", { input: ["msg_1", "msg_2"] });
  const [other = OURS] = OTHERS;
  await storeRun(events, "resp_3", { owner: other, input: ["msg_1"] });
  const found = await responses.findItems(OURS, ["msg_1", "msg_2", "msg_1", "msg_unknown"]);
  expect(Object.fromEntries(found)).toEqual({
    msg_1: anItem("msg_1", "in resp_2"),
    msg_2: anItem("msg_2", "in resp_2"),
  });
});

testStores("outputs are found whatever else has their ids, and inputs never are", async () => {
  const { events, responses } = await openTestStore();
  await storeRun(events, "resp_1", { output: ["msg_1"] });
  await storeRun(events, "resp_2", { input: ["msg_1", "msg_2"] });
  const found = await responses.findOutputs(OURS, ["msg_1", "msg_2", "msg_unknown"]);
  expect(Object.fromEntries(found)).toEqual({ msg_1: anItem("msg_1", "out resp_1") });
  const [other = OURS] = OTHERS;
  expect((await responses.findOutputs(other, ["msg_1"])).size).toBe(0);
});

testStores("any number of ids can be looked up at once", async () => {
  const { events, responses } = await openTestStore();
  const ids = numbersFrom(1, 2_500).map((number) => `msg_${number}`);
  await storeRun(events, "resp_1", { input: ids });
  expect((await responses.findItems(OURS, ids)).size).toBe(2_500);
  expect((await responses.findItems(OURS, [])).size).toBe(0);
});
