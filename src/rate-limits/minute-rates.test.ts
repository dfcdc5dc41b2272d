import type { RatedKey } from "@antiphon/domain/rates.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MinuteRates } from "./minute-rates.ts";

const KEY: RatedKey = { keyId: "key_1", limits: { requests: null, tokens: null } };
const STRICT: RatedKey = { keyId: "key_2", limits: { requests: 1, tokens: 10 } };

describe("the rates of a minute", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const rates = (): MinuteRates => new MinuteRates({ requests: 2, tokens: 100 });

  test("are full before anything is taken", async () => {
    expect(await rates().standing(KEY, "tokens")).toEqual({ limit: 100, remaining: 100, resetMs: 0 });
  });

  test("are used up by what is taken and come back when the minute is over", async () => {
    const all = rates();
    expect(await all.take(KEY, "requests", 1)).toMatchObject({
      taken: true,
      standing: { limit: 2, remaining: 1, resetMs: 60_000 },
    });
    vi.advanceTimersByTime(20_000);
    expect(await all.take(KEY, "requests", 1)).toMatchObject({ taken: true, standing: { remaining: 0 } });
    const refused = await all.take(KEY, "requests", 1);
    expect(refused).toMatchObject({ taken: false, standing: { limit: 2, remaining: 0, resetMs: 40_000 } });
    vi.advanceTimersByTime(40_000);
    expect(await all.take(KEY, "requests", 1)).toMatchObject({ taken: true, standing: { remaining: 1 } });
  });

  test("are a key's own where it has them, and no other key's", async () => {
    const all = rates();
    await all.take(STRICT, "requests", 1);
    expect(await all.take(STRICT, "requests", 1)).toMatchObject({ taken: false, standing: { limit: 1 } });
    expect(await all.take(KEY, "requests", 1)).toMatchObject({ taken: true });
  });

  test("lose nothing to what was refused", async () => {
    const all = rates();
    await all.take(KEY, "tokens", 90);
    expect(await all.take(KEY, "tokens", 11)).toMatchObject({ taken: false, standing: { remaining: 10 } });
    expect(await all.take(KEY, "tokens", 10)).toMatchObject({ taken: true, standing: { remaining: 0 } });
  });

  test("are charged for what was used beyond the estimate, and get back what was not used", async () => {
    const all = rates();
    const one = await all.take(KEY, "tokens", 40);
    const other = await all.take(KEY, "tokens", 40);
    one.correct(10);
    expect(await all.standing(KEY, "tokens")).toMatchObject({ remaining: 50 });
    other.correct(100);
    expect(await all.standing(KEY, "tokens")).toMatchObject({ remaining: 0 });
  });

  test("of a later minute do not grow by what an earlier one had set aside", async () => {
    const all = rates();
    const taking = await all.take(KEY, "tokens", 100);
    vi.advanceTimersByTime(60_000);
    taking.correct(0);
    await all.take(KEY, "tokens", 1);
    expect(await all.standing(KEY, "tokens")).toMatchObject({ remaining: 99 });
  });
});
