import { expect } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { Store } from "../../open-store.ts";
import { openTestStore, readAll, storeRun, testStores } from "../../store.fixture.ts";
import { aResponse, OURS } from "../../stored-shapes.fixture.ts";

/** The creation time of `storeRun`'s responses. */
const MADE_AT = 1_760_000_000;

/** Runs all steps. Returns how much was removed, and in how many steps. */
async function expire({ expiry }: Store, before: number): Promise<readonly [deleted: number, steps: number]> {
  let deleted = 0;
  let steps = 0;
  let cursor = null;
  do {
    const step = await expiry.deleteExpired(before, cursor);
    deleted += step.deleted;
    steps += 1;
    cursor = step.next;
  } while (cursor !== null);
  return [deleted, steps];
}

testStores("an old response goes with its items and events, a younger one stays", async () => {
  verifies("state.store.expiry");
  const store = await openTestStore();
  await storeRun(store.events, "resp_1", { input: ["msg_1"], output: ["msg_2"], eventCount: 300 });
  expect(await expire(store, MADE_AT)).toEqual([0, 1]);
  expect(await store.responses.findResponse(OURS, "resp_1")).not.toBeNull();
  expect(await expire(store, MADE_AT + 1)).toEqual([1, 1]);
  expect(await store.responses.findResponse(OURS, "resp_1")).toBeNull();
  expect(await store.responses.findItems(OURS, ["msg_1", "msg_2"])).toEqual(new Map());
  expect(await readAll(store.events, "resp_1")).toEqual([]);
});

testStores("a response that is being made does not go, however old", async () => {
  const store = await openTestStore();
  for (const status of ["queued", "in_progress"]) {
    const response = aResponse(`resp_${status}`, { status });
    await store.events.open({ owner: OURS, response, inputItems: [], task: null, streamed: false }, []);
  }
  expect(await expire(store, MADE_AT + 1)).toEqual([0, 1]);
});

testStores("a chain stays whole for as long as its last response, and then goes as a whole", async () => {
  const store = await openTestStore();
  const chain = ["resp_3", "resp_1", "resp_2"]; // The order of ids must not matter.
  for (const [index, id] of chain.entries()) {
    const previous = chain[index - 1];
    await storeRun(store.events, id, previous === undefined ? {} : { previous });
  }
  const young = aResponse("resp_young", { created_at: MADE_AT + 10, previous_response_id: "resp_2" });
  await store.events.open({ owner: OURS, response: young, inputItems: [], task: null, streamed: false }, []);
  await store.events.close("resp_young", [], { response: { ...young, status: "completed" }, outputItems: [] });
  expect(await expire(store, MADE_AT + 10)).toEqual([0, 1]);
  expect(await store.responses.loadChain(OURS, "resp_young")).toHaveLength(4);
  let removed = 0;
  for (let pass = 0; pass < chain.length; pass++) removed += (await expire(store, MADE_AT + 11))[0];
  expect(removed).toBe(4);
});

testStores("much that is old goes in small steps", async () => {
  const store = await openTestStore();
  for (let index = 0; index < 120; index++) await storeRun(store.events, `resp_${index}`);
  expect(await expire(store, MADE_AT + 1)).toEqual([120, 3]);
});
