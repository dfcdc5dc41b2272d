import { expect, test } from "vitest";
import { hashApiKey, newApiKey } from "../base/api-key.ts";
import { openTestStore } from "./store.fixture.ts";
import { OTHERS, OURS } from "./stored-shapes.fixture.ts";

test("a key is found by the hash of its secret, with its owner", async () => {
  const { keys } = await openTestStore();
  const [other = OURS] = OTHERS;
  const [ours, theirs] = [hashApiKey(newApiKey()), hashApiKey(newApiKey())];
  const added = await keys.addKey(ours, OURS, "laptop");
  await keys.addKey(theirs, other, "server");
  expect(added).toMatchObject({ id: expect.stringMatching(/^key_/), owner: OURS, name: "laptop" });
  expect(await keys.findByHash(ours)).toEqual(added);
  expect((await keys.findByHash(theirs))?.owner).toEqual(other);
  expect(await keys.findByHash(hashApiKey(newApiKey()))).toBeNull();
});

test("keys are counted", async () => {
  const { keys } = await openTestStore();
  expect(await keys.count()).toBe(0);
  await keys.addKey("hash", OURS, "laptop");
  expect(await keys.count()).toBe(1);
});

test("a key cannot be added twice", async () => {
  const { keys } = await openTestStore();
  await keys.addKey("hash", OURS, "laptop");
  await expect(keys.addKey("hash", OURS, "laptop")).rejects.toThrow("UNIQUE");
});
