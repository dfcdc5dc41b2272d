import { hashApiKey, newApiKey } from "@antiphon/base/api-key.ts";
import { expect } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { openTestStore, temporaryFile, testStores } from "../store.fixture.ts";
import { aKey, OTHERS, OURS } from "../stored-shapes.fixture.ts";

testStores("a key is found by the hash of its secret, with its owner", async () => {
  const { keys } = await openTestStore();
  const [other = OURS] = OTHERS;
  const ours = hashApiKey(newApiKey());
  const theirs = hashApiKey(newApiKey());
  const added = await keys.addKey(aKey(ours, OURS));
  await keys.addKey(aKey(theirs, other));
  expect(added).toMatchObject({ id: expect.stringMatching(/^key_/), owners: [OURS], name: "laptop", revokedAt: null });
  expect(await keys.findByHash(ours)).toEqual(added);
  expect((await keys.findByHash(theirs))?.owners).toEqual([other]);
  expect(await keys.findByHash(hashApiKey(newApiKey()))).toBeNull();
});

testStores("a key keeps its owners in their order, its limits and its last four characters", async () => {
  const { keys } = await openTestStore();
  const limits = { requests: 60, tokens: null };
  const key = { ...aKey("hash", OURS), isRouted: true, limits, lastFour: "wxyz" };
  const [other = OURS] = OTHERS;
  await keys.addKey({ ...key, owners: [other, OURS] });
  const found = await keys.findByHash("hash");
  expect(found).toMatchObject({ owners: [other, OURS], isRouted: true, limits, lastFour: "wxyz" });
});

testStores("a key is found until its time is over", async () => {
  verifies("auth.keys.expire");
  const { keys } = await openTestStore();
  const nowSeconds = Math.floor(Date.now() / 1000);
  await keys.addKey({ ...aKey("lasting", OURS), expiresAt: nowSeconds + 3600 });
  await keys.addKey({ ...aKey("over", OURS), expiresAt: nowSeconds });
  expect(await keys.findByHash("lasting")).toMatchObject({ expiresAt: nowSeconds + 3600 });
  expect(await keys.findByHash("over")).toBeNull();
  expect(await keys.listKeys()).toHaveLength(2);
});

testStores("a revoked key is found no more, and is still listed", async () => {
  const { keys } = await openTestStore();
  const { id } = await keys.addKey(aKey("hash", OURS));
  const kept = await keys.addKey(aKey("other", OURS));
  expect(await keys.revokeKey(id)).toBeNull();
  expect(await keys.revokeKey(id)).toBe("unknown");
  expect(await keys.revokeKey("key_nothing")).toBe("unknown");
  expect(await keys.findByHash("hash")).toBeNull();
  expect(await keys.findByHash("other")).toEqual(kept);
  const revoked = (await keys.listKeys()).filter(({ revokedAt }) => revokedAt !== null);
  expect(revoked.map((key) => key.id)).toEqual([id]);
});

testStores("keys are counted, revoked ones too", async () => {
  const { keys } = await openTestStore();
  expect(await keys.count()).toBe(0);
  const { id } = await keys.addKey(aKey("hash", OURS));
  await keys.revokeKey(id);
  expect(await keys.count()).toBe(1);
});

testStores("a key cannot be added twice", async () => {
  const { keys } = await openTestStore();
  await keys.addKey(aKey("hash", OURS));
  await expect(keys.addKey(aKey("hash", OURS))).rejects.toThrow(/unique/i);
});

testStores("of several servers that add a first key at the same time, one does", async () => {
  const file = temporaryFile();
  const one = await openTestStore({ file });
  const other = await openTestStore({ file });
  const added = await Promise.all(
    [one, other, one, other].map(({ keys }, index) => keys.addFirstKey(aKey(`hash ${index}`, OURS))),
  );
  expect(added.filter((isAdded) => isAdded)).toHaveLength(1);
  expect(await one.keys.listKeys()).toHaveLength(1);
  expect(await other.keys.findByHash(`hash ${added.indexOf(true)}`)).toMatchObject({ owners: [OURS] });
});
