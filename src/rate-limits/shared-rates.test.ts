import type { RatedKey } from "@antiphon/domain/rates.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type RateAsk, SharedCounts } from "./shared-counts.ts";
import { SharedRates } from "./shared-rates.ts";

const KEY: RatedKey = { keyId: "key_1", limits: { requests: null, tokens: null } };

/** Processes that share their counts, and how many questions they asked. */
function startProcesses(count: number, limits: { requests: number; tokens: number }) {
  let asked = 0;
  const counts = new SharedCounts(count, async (process, place) => processes[process]?.recall(place) ?? 0);
  const processes = Array.from({ length: count }, (_, process) => {
    const take = (ask: RateAsk) => {
      asked += 1;
      return counts.take(process, ask);
    };
    return new SharedRates(limits, { take, correct: (correction) => counts.correct(correction) });
  });
  return { processes, asked: () => asked };
}

async function takeInTurn(processes: readonly SharedRates[], takings: number, amount = 1): Promise<number> {
  let taken = 0;
  for (let turn = 0; turn < takings; turn++) {
    const taking = await processes[turn % processes.length]?.take(KEY, "requests", amount);
    if (taking?.taken === true) taken += 1;
  }
  return taken;
}

describe("rates of several processes", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each([1, 10, 100, 1000, 2500])("let exactly %i requests through, whichever process gets them", async (limit) => {
    const { processes } = startProcesses(3, { requests: limit, tokens: 1 });
    expect(await takeInTurn(processes, limit + 50)).toBe(limit);
  });

  test("let all requests through to one process after others have taken blocks", async () => {
    const { processes } = startProcesses(4, { requests: 1000, tokens: 1 });
    expect(await takeInTurn(processes, 4)).toBe(4);
    expect(await takeInTurn(processes.slice(0, 1), 1100)).toBe(996);
  });

  test("are counted with one question for sixteen requests while plenty is left", async () => {
    const { processes, asked } = startProcesses(2, { requests: 1_000_000, tokens: 1 });
    await takeInTurn(processes, 3200);
    expect(asked()).toBe(200);
  });

  test("begin anew when the minute is over, without blocks of the last one", async () => {
    const { processes } = startProcesses(2, { requests: 100, tokens: 1 });
    expect(await takeInTurn(processes, 120)).toBe(100);
    vi.advanceTimersByTime(60_000);
    expect(await takeInTurn(processes, 120)).toBe(100);
  });

  test("show every process what is left for all", async () => {
    const { processes } = startProcesses(2, { requests: 20, tokens: 1 });
    await takeInTurn(processes, 7);
    for (const process of processes)
      expect(await process.standing(KEY, "requests")).toMatchObject({ limit: 20, remaining: 13, resetMs: 60_000 });
  });

  test.each([1_000, 1_000_000])("settle what was used with a limit of %i tokens", async (limit) => {
    const { processes } = startProcesses(2, { requests: 1, tokens: limit });
    const [one, other] = processes;
    const takings = [await one?.take(KEY, "tokens", 100), await other?.take(KEY, "tokens", 100)];
    takings[0]?.correct(30);
    takings[1]?.correct(300);
    const left = limit - 330;
    expect((await one?.take(KEY, "tokens", left))?.taken).toBe(true);
    expect((await other?.take(KEY, "tokens", 1))?.taken).toBe(false);
  });

  test("do not grow in the next minute by what this one had set aside", async () => {
    const { processes } = startProcesses(1, { requests: 1, tokens: 100 });
    const taking = await processes[0]?.take(KEY, "tokens", 100);
    vi.advanceTimersByTime(60_000);
    taking?.correct(0);
    expect((await processes[0]?.take(KEY, "tokens", 101))?.taken).toBe(false);
  });

  test("let requests through if nobody counts", async () => {
    const rates = new SharedRates({ requests: 1, tokens: 1 }, { take: async () => null, correct: () => {} });
    for (let request = 0; request < 3; request++) expect((await rates.take(KEY, "requests", 1)).taken).toBe(true);
  });
});
