import { randomHex } from "@antiphon/base/ids.ts";
import type { RatedKey } from "@antiphon/domain/rates.ts";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { whyNoPostgres } from "../../tests/services/postgres-server.ts";
import { startRedis, whyNoRedis } from "../../tests/services/redis-server.ts";
import { databaseOfTest, redisOfRun } from "../../tests/services/services-of-run.ts";
import { migratePostgres } from "../store/database/postgres/migrate-postgres.ts";
import { PostgresCounts } from "../store/stores/rate-counts.ts";
import { ClusterRates } from "./cluster-rates.ts";
import { ClusterStreamRates } from "./cluster-stream-rates.ts";
import { CountBatches } from "./count-batches.ts";
import type { CommonCounts, CountChange, CountsObserver } from "./ports.ts";
import { RedisCounts } from "./redis-counts.ts";

const MINUTE_MS = 60_000;
const LIMITS = { requests: 100, tokens: 8000 };
const STREAMS = { streamsPerMinute: 2, soundSecondsPerMinute: 10, waitMs: MINUTE_MS };
const SILENT: CountsObserver = { away() {}, back() {} };

const STORES = [
  { name: "PostgreSQL", why: whyNoPostgres(), open: (url: string) => new PostgresCounts(url) },
  { name: "Redis", why: whyNoRedis(), open: (url: string) => new RedisCounts(url, async () => "one") },
] as const;

async function addressOf(name: "PostgreSQL" | "Redis"): Promise<string> {
  if (name === "Redis") return await redisOfRun();
  const url = await databaseOfTest();
  await migratePostgres(url);
  return url;
}

describe.each(STORES)("counted in $name", ({ name, why, open }) => {
  let openOne: () => Promise<CommonCounts>;
  beforeEach(async (context) => {
    context.skip(why !== undefined, why);
    const url = await addressOf(name);
    openOne = async () => {
      const counts = open(url);
      onTestFinished(() => counts.close());
      await vi.waitFor(() => counts.change([change({ amount: 0 })])); // A client connects in the background.
      return counts;
    };
  });

  const key = (): RatedKey => ({ keyId: `key_${randomHex(16)}`, limits: { requests: null, tokens: null } });
  const servers = async (count: number): Promise<ClusterRates[]> => {
    const opened = await Promise.all(Array.from({ length: count }, () => openOne()));
    return opened.map((counts) => new ClusterRates(LIMITS, new CountBatches(counts, SILENT), () => count));
  };

  test("exactly the limit is let through by several servers together", async () => {
    const all = await servers(3);
    const caller = key();
    const asked = all.flatMap((rates) => Array.from({ length: 100 }, () => rates.take(caller, "requests", 1)));
    const takings = await Promise.all(asked);
    expect(takings.filter(({ taken }) => taken)).toHaveLength(LIMITS.requests);
    const standing = await all[0]?.standing(caller, "requests");
    expect(standing).toMatchObject({ limit: LIMITS.requests, remaining: 0 });
    expect(standing?.resetMs).toBeGreaterThan(MINUTE_MS / 2);
  });

  test("a refused taking leaves what is left to smaller ones", async () => {
    const [one, other] = await servers(2);
    const caller = key();
    expect(await one?.take(caller, "tokens", 7900)).toMatchObject({ taken: true });
    expect(await other?.take(caller, "tokens", 101)).toMatchObject({ taken: false, standing: { remaining: 100 } });
    expect(await other?.take(caller, "tokens", 100)).toMatchObject({ taken: true, standing: { remaining: 0 } });
  });

  test("what a request used in the end counts for all servers", async () => {
    const [one, other] = await servers(2);
    const caller = key();
    const more = await one?.take(caller, "tokens", 2000);
    const less = await one?.take(caller, "tokens", 2000);
    more?.correct(3000);
    less?.correct(500);
    await expect
      .poll(() => other?.standing(caller, "tokens"))
      .toMatchObject({ limit: LIMITS.tokens, remaining: LIMITS.tokens - 3500 });
  });

  test("a small taking of tokens right after the request was counted is not waited for, and counts", async () => {
    const [one, other] = await servers(2);
    const caller = key();
    await one?.standing(caller, "tokens");
    expect(await one?.take(caller, "tokens", 1000)).toMatchObject({ taken: true, standing: { remaining: 7000 } });
    await expect.poll(() => other?.standing(caller, "tokens")).toMatchObject({ remaining: 7000 });
  });

  test("the end of a period frees its limit, and what is given back later enlarges no other period", async () => {
    const counts = await openOne();
    const counter = randomHex(16);
    const taken = change({ name: counter, amount: 10, periodMs: 300 });
    expect(await counts.change([taken, taken])).toMatchObject([{ taken: true }, { taken: false, used: 10 }]);
    await expect.poll(async () => (await counts.change([{ ...taken, amount: 0 }]))[0]?.used).toBe(0);
    const back = change({ name: counter, kind: "charge", amount: -10, leftMsMax: 200 });
    expect(await counts.change([back])).toEqual([{ taken: true, used: 0, leftMs: 0 }]);
    const later = { ...taken, periodMs: MINUTE_MS };
    expect(await counts.change([later, back])).toMatchObject([{ used: 10 }, { used: 10 }]);
    expect(await counts.change([{ ...back, leftMsMax: MINUTE_MS }])).toMatchObject([{ used: 0 }]);
  });

  test("many changes of the same counters at once settle each other's order and never wait for ever", async () => {
    const one = await openOne();
    const other = await openOne();
    const names = Array.from({ length: 20 }, () => randomHex(16));
    const changes = (order: readonly string[]) =>
      order.flatMap((each) => [change({ name: each, amount: 1, limit: 1000 })]);
    const batches = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? one.change(changes(names)) : other.change(changes(names.toReversed())),
    );
    await Promise.all(batches);
    const counted = await one.change(names.map((each) => change({ name: each, amount: 0, limit: 1000 })));
    expect(counted.map(({ used }) => used)).toEqual(names.map(() => 40));
  });

  test("a key that opens too many streams is refused on all servers, for as long as is configured", async () => {
    const [one, other] = [await openOne(), await openOne()].map(
      (counts) => new ClusterStreamRates(STREAMS, new CountBatches(counts, SILENT)),
    );
    const caller = randomHex(16);
    expect([await one?.takeStream(caller), await other?.takeStream(caller)]).toEqual([null, null]);
    expect(await one?.takeStream(caller)).toBe(MINUTE_MS);
    const waitMs = await other?.waitMs(caller);
    expect(waitMs).toBeGreaterThan(MINUTE_MS / 2);
    expect(await other?.takeStream(caller)).toBeLessThanOrEqual(waitMs ?? 0);
    expect(await other?.takeSound(caller, 2000)).toBeNull();
  });

  test("the sound of all streams of a key counts by the second", async () => {
    const [one, other] = [await openOne(), await openOne()].map(
      (counts) => new ClusterStreamRates(STREAMS, new CountBatches(counts, SILENT)),
    );
    const caller = randomHex(16);
    expect([await one?.takeSound(caller, 6000), await other?.takeSound(caller, 4000)]).toEqual([null, null]);
    expect(await one?.takeSound(caller, 999)).toBeNull();
    expect(await one?.takeSound(caller, 1)).toBe(MINUTE_MS);
    expect(await other?.takeStream(caller)).toBeGreaterThan(MINUTE_MS / 2);
  });
});

test("while the counters are away, each server lets its part through, and waits for them once a second", async () => {
  let isAway = true;
  const noted: string[] = [];
  const counts: CommonCounts = {
    change: async (changes) => {
      if (isAway) return await new Promise(() => {});
      return changes.map(({ amount }) => ({ taken: true, used: amount, leftMs: MINUTE_MS }));
    },
    close: async () => {},
  };
  const observer: CountsObserver = { away: () => noted.push("away"), back: () => noted.push("back") };
  const rates = new ClusterRates({ requests: 9, tokens: 900 }, new CountBatches(counts, observer), () => 3);
  const caller: RatedKey = { keyId: "key_1", limits: { requests: null, tokens: null } };
  const begun = performance.now();
  const takings = [];
  for (let index = 0; index < 5; index++) takings.push(await rates.take(caller, "requests", 1));
  expect(takings.map(({ taken }) => taken)).toEqual([true, true, true, false, false]);
  expect(takings[0]?.standing).toMatchObject({ limit: 9, remaining: 2 });
  expect(performance.now() - begun).toBeLessThan(5 * 300); // Only one of them waited.
  const large = await rates.take(caller, "tokens", 800);
  expect(large).toMatchObject({ taken: true, standing: { limit: 900, remaining: 0 } });
  expect(await rates.take(caller, "tokens", 1)).toMatchObject({ taken: false });
  isAway = false;
  await expect.poll(async () => (await rates.take(caller, "requests", 1)).taken).toBe(true);
  expect(noted).toEqual(["away", "back"]);
});

test.skipIf(whyNoRedis() !== undefined)("a Redis that ends and starts again is counted in again", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const noted: string[] = [];
  const batches = new CountBatches(new RedisCounts(server.url, async () => "one"), {
    away: () => noted.push("away"),
    back: () => noted.push("back"),
  });
  onTestFinished(() => batches.close());
  const ask = (): Promise<unknown> => batches.change(change({ name: "a", amount: 0 }));
  await expect.poll(ask).not.toBeNull();
  await server.crash();
  expect(await ask()).toBeNull();
  await server.start();
  await expect.poll(ask).not.toBeNull();
  process.kill(server.pid(), "SIGSTOP");
  const begun = performance.now();
  expect(await ask()).toBeNull();
  expect(performance.now() - begun).toBeLessThan(2000);
  process.kill(server.pid(), "SIGCONT");
  await expect.poll(ask).not.toBeNull();
  expect(noted.slice(-4)).toEqual(["away", "back", "away", "back"]);
});

test.skipIf(whyNoRedis() !== undefined)("two databases in one Redis count apart", async () => {
  const url = await redisOfRun();
  const asked = change({ name: "the same", limit: 1 });
  for (const namespace of [randomHex(16), randomHex(16)]) {
    const counts = new RedisCounts(url, async () => namespace);
    onTestFinished(() => counts.close());
    await vi.waitFor(() => counts.change([{ ...asked, amount: 0 }]));
    expect(await counts.change([asked, asked])).toMatchObject([{ taken: true }, { taken: false }]);
  }
});

function change(fields: Partial<CountChange>): CountChange {
  return {
    name: randomHex(16),
    kind: "take",
    amount: 1,
    limit: 10,
    periodMs: MINUTE_MS,
    refusalMs: 0,
    leftMsMax: MINUTE_MS,
    ...fields,
  };
}
