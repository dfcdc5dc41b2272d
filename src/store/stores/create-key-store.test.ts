import { DatabaseSync } from "node:sqlite";
import { type ClaimedKey, type CreateKey, KEY_LIFE_SECONDS } from "@antiphon/domain/create-keys.ts";
import { assert, expect, test } from "vitest";
import type { Store } from "../open-store.ts";
import { openTestStore, runSql, storeRun, temporaryFile, testStores } from "../store.fixture.ts";
import { OURS } from "../stored-shapes.fixture.ts";

const KEY: CreateKey = { operation: "createResponse", key: "order-1", fingerprint: "aa", isKept: true };

async function claimed({ createKeys }: Pick<Store, "createKeys">, key = KEY): Promise<ClaimedKey> {
  const claim = await createKeys.claim(OURS, key);
  assert(claim.type === "first");
  return claim.claimedKey;
}

testStores("of several servers that claim a key at once one is the first", async () => {
  const file = temporaryFile();
  const stores = await Promise.all([1, 2, 3].map(() => openTestStore({ file })));
  const claims = await Promise.all(stores.map(({ createKeys }) => createKeys.claim(OURS, KEY)));
  expect(claims.map(({ type }) => type).toSorted()).toEqual(["first", "repeated", "repeated"]);
});

testStores("a key stands for one content, in one project and operation", async () => {
  const { createKeys } = await openTestStore();
  expect(await createKeys.claim(OURS, KEY)).toMatchObject({ type: "first" });
  expect(await createKeys.claim(OURS, { ...KEY, fingerprint: "bb" })).toEqual({ type: "other_content" });
  expect(await createKeys.claim(OURS, { ...KEY, operation: "createFile" })).toMatchObject({ type: "first" });
  expect(await createKeys.claim({ ...OURS, project: "other" }, KEY)).toMatchObject({ type: "first" });
});

testStores("a repetition finds what the first request creates, and whether that is over", async () => {
  const store = await openTestStore();
  const { createKeys } = store;
  const claimedKey = await claimed(store);
  const subject = { isKept: true, isOver: false, answer: null };
  expect(await createKeys.claim(OURS, KEY)).toEqual({ type: "repeated", ...subject, subjectId: null, repeats: 1 });
  await createKeys.name(claimedKey, "resp_1");
  expect(await createKeys.find(OURS, KEY)).toEqual({ ...subject, subjectId: "resp_1", repeats: 1 });
  await createKeys.settle(claimedKey, "{}");
  await createKeys.release(claimedKey); // Too late.
  const ended = { isKept: true, isOver: true, subjectId: "resp_1", answer: "{}" };
  expect(await createKeys.claim(OURS, KEY)).toEqual({ type: "repeated", ...ended, repeats: 2 });
});

testStores("a key that was released is free", async () => {
  const store = await openTestStore();
  const { createKeys } = store;
  await createKeys.release(await claimed(store));
  expect(await createKeys.find(OURS, KEY)).toBeNull();
  expect(await createKeys.claim(OURS, { ...KEY, fingerprint: "bb" })).toMatchObject({ type: "first" });
});

test("a key is free soon after a lock of the database kept its holder from releasing it", async () => {
  const file = temporaryFile();
  const store = await openTestStore({ file, lockWaitMs: 20 });
  const claimedKey = await claimed(store);
  const holder = new DatabaseSync(file);
  holder.exec("begin immediate");
  await store.createKeys.release(claimedKey);
  holder.exec("rollback");
  holder.close();
  await expect.poll(() => store.createKeys.find(OURS, KEY)).toBeNull();
});

testStores("the key of a dead server is free, unless its response is stored", async () => {
  const file = temporaryFile();
  const dying = await openTestStore({ file });
  const living = await openTestStore({ file });
  const stored = { ...KEY, key: "order-2" };
  await claimed(dying);
  await dying.createKeys.name(await claimed(dying, stored), "resp_2");
  await storeRun(dying.events, "resp_2");
  await dying.close();
  expect(await living.createKeys.claim(OURS, KEY)).toMatchObject({ type: "first" });
  expect(await living.createKeys.claim(OURS, stored)).toMatchObject({ type: "repeated", subjectId: "resp_2" });
});

testStores("a server that has lost its key to another one cannot name its response", async () => {
  const file = temporaryFile();
  const slow = await openTestStore({ file });
  const quick = await openTestStore({ file });
  const lost = await claimed(slow);
  await runSql(file, "delete from create_keys");
  await quick.createKeys.claim(OURS, KEY);
  await expect(slow.createKeys.name(lost, "resp_1")).rejects.toThrow("another server has taken the key");
});

testStores("old keys are free, and are deleted", async () => {
  const file = temporaryFile();
  const store = await openTestStore({ file });
  const { createKeys } = store;
  const other = { ...KEY, key: "order-2" };
  for (const key of [KEY, other]) await createKeys.settle(await claimed(store, key), null);
  await runSql(file, "update create_keys set created_at = created_at - ?", KEY_LIFE_SECONDS + 1);
  expect(await createKeys.claim(OURS, { ...KEY, fingerprint: "bb" })).toMatchObject({ type: "first" });
  expect(await createKeys.deleteOld(Math.floor(Date.now() / 1000) - KEY_LIFE_SECONDS)).toBe(1);
  expect(await createKeys.find(OURS, other)).toBeNull();
  expect(await createKeys.find(OURS, KEY)).not.toBeNull();
});
