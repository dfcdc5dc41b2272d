import type { RefusedRequest } from "@antiphon/contracts/responses-api/types.ts";
import { expect } from "vitest";
import { openTestStore, testStores } from "../../store.fixture.ts";
import { OTHERS, OURS } from "../../stored-shapes.fixture.ts";

const REFUSED: RefusedRequest = {
  object: "response.refused",
  created_at: 1_760_000_000,
  status: 400,
  code: "invalid_type",
  message: "No.",
  param: "temperature",
  model: "m",
  kind: "plain",
  key_id: "key_1",
  input_preview: "Hi",
};
const SPAN = { from: 1_760_000_000, before: 1_760_000_001 };

testStores("refusals are listed newest first, by their owner and time only", async () => {
  const { refusals } = await openTestStore();
  const last = { ...REFUSED, code: null };
  for (const refused of [REFUSED, last, { ...REFUSED, created_at: SPAN.before }]) await refusals.add(OURS, refused);
  expect(await refusals.list(OURS, SPAN)).toEqual([last, REFUSED]);
  for (const owner of OTHERS) expect(await refusals.list(owner, SPAN)).toEqual([]);
});

testStores("the oldest refusals of an owner go", async () => {
  const { refusals, exchanges } = await openTestStore();
  const [other = OURS] = OTHERS;
  await refusals.add(other, REFUSED);
  for (let number = 0; number < 1_050; number++) await refusals.add(OURS, { ...REFUSED, message: String(number) });
  const kept = await refusals.list(OURS, SPAN);
  expect(kept).toHaveLength(1_000);
  expect([kept.at(0)?.message, kept.at(-1)?.message]).toEqual(["1049", "50"]);
  expect(await refusals.list(other, SPAN)).toHaveLength(1);
  expect(await exchanges.deleteExpired(SPAN.before)).toBeGreaterThan(0);
});
