import { silentLogger } from "@antiphon/base/logger.ts";
import { COUNTS_ADDED_MAX, type UsageCount } from "@antiphon/domain/usage.ts";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { UsageLedger } from "./usage-ledger.ts";

const AT = 1_800_000_000;
const AMOUNTS = {
  requests: 1,
  inputTokens: 10,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 5,
  calls: 0,
  nanos: 7,
};

function aCount(more: Partial<UsageCount> = {}): UsageCount {
  return {
    owner: { organization: "acme", project: "web" },
    keyId: "key_1",
    kind: "completions",
    model: "m",
    serviceTier: "default",
    currency: "usd",
    at: AT,
    amounts: AMOUNTS,
    ...more,
  };
}

/** A ledger of a store that fails as long as `isAway`. */
function openLedger() {
  const store = {
    isAway: false,
    batches: [] as (readonly UsageCount[])[],
    async add(counts: readonly UsageCount[]): Promise<void> {
      if (store.isAway) throw new Error("away");
      store.batches.push(counts);
    },
  };
  const errors: string[] = [];
  const ledger = new UsageLedger(store, { ...silentLogger, error: (_, message) => void errors.push(message) });
  onTestFinished(() => ledger.close());
  return { store, ledger, errors };
}

test("counts of one minute and subject are written as one", async () => {
  verifies("usage.counts.kept");
  const { store, ledger } = openLedger();
  for (const at of [AT, AT + 59]) ledger.note(aCount({ at }));
  ledger.note(aCount({ at: AT + 60 }));
  ledger.note(aCount({ keyId: null }));
  await ledger.flush();
  await ledger.flush();
  expect(store.batches).toHaveLength(1);
  expect(store.batches[0]).toEqual([
    aCount({ amounts: { ...AMOUNTS, requests: 2, inputTokens: 20, outputTokens: 10, nanos: 14 } }),
    aCount({ at: AT + 60 }),
    aCount({ keyId: null }),
  ]);
});

test("what could not be written is written later, in batches", async () => {
  verifies("usage.counts.kept");
  const { store, ledger } = openLedger();
  store.isAway = true;
  for (let key = 0; key <= COUNTS_ADDED_MAX; key++) ledger.note(aCount({ keyId: `key_${key}` }));
  await ledger.flush();
  ledger.note(aCount({ keyId: "key_0" }));
  store.isAway = false;
  await ledger.close();
  expect(store.batches.map(({ length }) => length)).toEqual([COUNTS_ADDED_MAX, 1]);
  const first = store.batches.flat().find(({ keyId }) => keyId === "key_0");
  expect(first?.amounts).toMatchObject({ requests: 2, inputTokens: 20 });
});

test("more subjects than may wait are lost, and the log says so once", async () => {
  verifies("usage.counts.bounded");
  const { store, ledger, errors } = openLedger();
  for (let key = 0; key < 10_005; key++) ledger.note(aCount({ keyId: `key_${key}` }));
  ledger.note(aCount({ keyId: "key_0" }));
  expect(errors).toEqual(["too many counts of usage wait: some are lost"]);
  await ledger.flush();
  expect(store.batches.flat()).toHaveLength(10_000);
  expect(store.batches.flat()[0]?.amounts.requests).toBe(2);
});
