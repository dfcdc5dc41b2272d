import type { UsageAmounts, UsageCount, UsageQuery } from "@antiphon/domain/usage.ts";
import { expect } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { openTestStore, temporaryFile, testStores } from "../../store.fixture.ts";
import { OTHERS, OURS } from "../../stored-shapes.fixture.ts";

const DAY = 20_000 * 86_400;
const AMOUNTS: UsageAmounts = {
  requests: 1,
  inputTokens: 10,
  cachedTokens: 4,
  cacheWriteTokens: 2,
  outputTokens: 5,
  calls: 0,
  nanos: 2_500,
};

function aCount(more: Partial<UsageCount> = {}): UsageCount {
  return {
    owner: OURS,
    keyId: "key_1",
    kind: "completions",
    model: "m",
    serviceTier: "default",
    currency: "usd",
    at: DAY + 61,
    amounts: AMOUNTS,
    ...more,
  };
}

function aQuery(more: Partial<UsageQuery> = {}): UsageQuery {
  const everything = { owners: null, keyIds: null, models: null };
  return {
    kind: "completions",
    bucketSeconds: 86_400,
    from: DAY,
    before: DAY + 86_400,
    groupBy: [],
    ...everything,
    ...more,
  };
}

testStores("counts of one minute and subject are added up, also from two servers at once", async () => {
  verifies("usage.counts.kept");
  const file = temporaryFile();
  const one = await openTestStore({ file });
  const other = await openTestStore({ file });
  const both = [aCount(), aCount({ at: DAY + 119 })];
  await Promise.all([one, other, one, other].map(({ usage }) => usage.add(both)));
  const expected = {
    requests: 8,
    inputTokens: 80,
    cachedTokens: 32,
    cacheWriteTokens: 16,
    outputTokens: 40,
    calls: 0,
    nanos: 20_000,
  };
  const nobody = { owner: null, keyId: null, model: null, serviceTier: null, currency: null };
  expect(await one.usage.sum(aQuery())).toEqual([{ start: DAY, ...nobody, amounts: expected }]);
  expect(await other.usage.sum(aQuery({ bucketSeconds: 60 }))).toEqual([
    { start: DAY + 60, ...nobody, amounts: expected },
  ]);
});

testStores("sums are told apart by what the query groups by, and have only what it matches", async () => {
  verifies("usage.counts.kept");
  const { usage } = await openTestStore();
  const [other = OURS] = OTHERS;
  await usage.add([
    aCount(),
    aCount({ keyId: "key_2", model: "n", currency: null }),
    aCount({ owner: other, keyId: "key_3", at: DAY + 3_600, serviceTier: "flex" }),
    aCount({ kind: "embeddings", keyId: "key_1" }),
    aCount({ at: DAY + 86_400 }),
  ]);
  const shown = async (more: Partial<UsageQuery>) =>
    (await usage.sum(aQuery(more))).map(({ start, owner, keyId, model, serviceTier, currency, amounts }) => [
      start - DAY,
      owner?.organization ?? null,
      keyId,
      model,
      serviceTier,
      currency,
      amounts.requests,
    ]);
  expect(await shown({ groupBy: ["key", "model"] })).toEqual([
    [0, null, "key_1", "m", null, null, 1],
    [0, null, "key_2", "n", null, null, 1],
    [0, null, "key_3", "m", null, null, 1],
  ]);
  expect(await shown({ groupBy: ["project", "serviceTier"], bucketSeconds: 3_600 })).toEqual([
    [0, "org_a", null, null, "default", null, 2],
    [3_600, "org_b", null, null, "flex", null, 1],
  ]);
  expect(await shown({ groupBy: ["currency"], kind: null })).toEqual([
    [0, null, null, null, null, null, 1],
    [0, null, null, null, null, "usd", 3],
  ]);
  expect(await shown({ owners: [other] })).toEqual([[0, null, null, null, null, null, 1]]);
  expect(await shown({ keyIds: ["key_1", "key_2"], models: ["m"] })).toEqual([[0, null, null, null, null, null, 1]]);
  expect(await shown({ owners: [] })).toEqual([]);
});

testStores("what a key has spent counts from a day on, and outlives the counts of minutes", async () => {
  verifies("usage.counts.kept");
  const { usage } = await openTestStore();
  await usage.add([aCount(), aCount({ at: DAY + 86_400 }), aCount({ keyId: "key_2" })]);
  expect(await usage.spentSince("key_1", DAY)).toEqual({ nanos: 5_000, tokens: 30 });
  expect(await usage.spentSince("key_1", DAY + 86_400)).toEqual({ nanos: 2_500, tokens: 15 });
  expect(await usage.spentSince("key_9", 0)).toEqual({ nanos: 0, tokens: 0 });
  expect(await usage.deleteMinutes(DAY + 86_400)).toBe(2);
  expect(await usage.deleteMinutes(DAY + 86_400)).toBe(0);
  expect(await usage.sum(aQuery({ bucketSeconds: 60 }))).toEqual([]);
  expect(await usage.spentSince("key_1", 0)).toEqual({ nanos: 5_000, tokens: 30 });
});
