import { describe, expect, onTestFinished, test } from "vitest";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { startTcpProxy } from "../services/proxy-of-test.ts";
import { startRedis, whyNoRedis } from "../services/redis-server.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import type { TcpProxy } from "../services/tcp-proxy.ts";
import { someCases } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { create, expectDense, look, metric, readiness, readStream, startNode, TEST_TIMEOUT_MS } from "./nodes.ts";

const OUTAGES = [
  ["is down", (proxy: TcpProxy) => proxy.cut()],
  ["is cut off without a word", async (proxy: TcpProxy) => proxy.silence()],
] as const;

const why = whyNoPostgres() ?? whyNoRedis();

/** Two nodes that reach their broker through a proxy. */
async function startTwo() {
  const [database, redis] = [await databaseOfTest(), await startRedis()];
  onTestFinished(() => redis.stop());
  const proxy = await startTcpProxy(redis.url);
  const env = { BUS_URL: proxy.through(redis.url) };
  return { proxy, left: await startNode(database, env), right: await startNode(database, env) };
}

describe.skipIf(why !== undefined)(`the broker${why === undefined ? "" : ` (${why})`}`, () => {
  test(
    "is slow: readers on another node get everything, only later, and nothing else waits for it",
    async () => {
      verifies("outages.broker.down");
      const { proxy, left, right } = await startTwo();
      proxy.delay(700);
      const id = String((await create(left, "slow", { background: true })).body["id"]);
      const reader = readStream(await right.fetch(`/v1/responses/${id}/events`));
      expect((await create(right, "Say hello")).status).toBe(200);
      await reader.over;
      expectDense(reader.numbers);
      expect(reader.types.at(-1)).toBe("response.completed");
    },
    TEST_TIMEOUT_MS,
  );

  test.each(someCases(OUTAGES, 2))(
    "%s: readers on another node go on from the database, cancels arrive, and it is connected again by itself",
    async (_what, breakIt) => {
      verifies("outages.broker.down");
      const { proxy, left, right } = await startTwo();
      await expect.poll(() => readiness(right)).toMatchObject({ status: 200, broker: "ok" });
      const id = String((await create(left, "slow", { background: true })).body["id"]);
      const stopped = String((await create(left, "silent", { background: true })).body["id"]);
      const reader = readStream(await right.fetch(`/v1/responses/${id}/events`));
      await expect.poll(() => reader.numbers.length).toBeGreaterThan(3);

      await breakIt(proxy);
      await reader.over;
      expectDense(reader.numbers);
      expect(reader.types.at(-1)).toBe("response.completed");
      expect((await right.post(`/v1/responses/${stopped}/cancel`, {})).status).toBe(200);
      await expect.poll(async () => (await look(left, stopped)).body["status"]).toBe("cancelled");
      expect((await create(right, "Say hello")).status).toBe(200);
      await expect
        .poll(() => readiness(right), { timeout: 30_000 })
        .toMatchObject({ status: 200, broker: "unavailable" });

      await proxy.heal();
      await expect.poll(() => readiness(right), { timeout: 30_000 }).toMatchObject({ status: 200, broker: "ok" });
      expect(await metric(right, "antiphon_bus_reconnects_total")).toBeGreaterThan(0);
    },
    TEST_TIMEOUT_MS,
  );
});
