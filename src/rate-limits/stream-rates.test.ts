import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { MemoryStreamRates } from "./stream-rates.ts";

describe("the rates of streams", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const rates = (): MemoryStreamRates =>
    new MemoryStreamRates({ streamsPerMinute: 2, soundSecondsPerMinute: 10, waitMs: 60_000 });

  test("refuse a key for 60 s from the first stream that is too much, however often it asks meanwhile", async () => {
    verifies("cloud.stream.rate-limit-waits-60-seconds");
    const all = rates();
    expect([await all.takeStream("a"), await all.takeStream("a"), await all.waitMs("a")]).toEqual([null, null, null]);
    vi.advanceTimersByTime(50_000);
    expect(await all.takeStream("a")).toBe(60_000);
    expect(await all.takeStream("b")).toBeNull();
    vi.advanceTimersByTime(59_000);
    expect([await all.takeStream("a"), await all.waitMs("a")]).toEqual([1000, 1000]);
    vi.advanceTimersByTime(1000);
    expect([await all.waitMs("a"), await all.takeStream("a"), await all.takeStream("a")]).toEqual([null, null, null]);
  });

  test("are full again when the minute is over", async () => {
    const all = rates();
    for (let minute = 0; minute < 3; minute += 1) {
      expect([await all.takeStream("a"), await all.takeStream("a")]).toEqual([null, null]);
      expect(await all.takeSound("a", 10_000)).toBeNull();
      vi.advanceTimersByTime(60_000);
    }
  });

  test("count the sound of all streams of a key, and refuse new ones too once it is too much", async () => {
    verifies("cloud.stream.audio-limit");
    const all = rates();
    expect(await all.takeStream("a")).toBeNull();
    expect([await all.takeSound("a", 6000), await all.takeSound("a", 4000)]).toEqual([null, null]);
    expect(await all.takeSound("a", 1)).toBe(60_000);
    expect([await all.takeStream("a"), await all.waitMs("a")]).toEqual([60_000, 60_000]);
    expect(await all.takeSound("b", 1)).toBeNull();
    vi.advanceTimersByTime(60_000);
    expect([await all.takeStream("a"), await all.takeSound("a", 10_000)]).toEqual([null, null]);
  });

  test("let streams go on that are open when a further one is too much", async () => {
    const all = rates();
    for (let stream = 0; stream < 3; stream += 1) await all.takeStream("a");
    expect(await all.waitMs("a")).toBe(60_000);
    expect(await all.takeSound("a", 1000)).toBeNull();
  });
});
