import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import { verifies } from "../verifies.ts";
import { create, expectDense, LEASE_MS, look, metric, replay, startNode, stream, TEST_TIMEOUT_MS } from "./nodes.ts";

const why = whyNoPostgres();

describe.skipIf(why !== undefined)(`a node${why === undefined ? "" : ` (${why})`}`, () => {
  test(
    "is killed: its streams break, the others end or make again what it had begun, and all that was shown is kept",
    async () => {
      verifies("outages.node.killed");
      const database = await databaseOfTest();
      const [left, right] = [await startNode(database), await startNode(database)];
      const shown = await stream(left, "slow");
      const id = await shown.id;
      const begun = await create(left, "silent", { background: true });
      await expect.poll(() => shown.numbers.length).toBeGreaterThan(4);
      await left.kill();
      await shown.over;
      expect(shown.types).not.toContain("response.completed");
      await expect.poll(async () => (await look(right, id)).body["status"], { timeout: 60_000 }).toBe("failed");
      const logged = await replay(right, id);
      expectDense(logged.numbers);
      expect(logged.numbers.length).toBeGreaterThan(shown.numbers.length);
      expect(logged.types.slice(0, shown.types.length)).toEqual(shown.types);
      await expect
        .poll(async () => (await look(right, begun.body["id"])).body["status"], { timeout: 60_000 })
        .toMatch(/^(completed|failed)$/);
      expect(await metric(right, "antiphon_runs_claimed_total", 'from="dead"')).toBeGreaterThan(0);
      expect((await create(right, "Say hello")).status).toBe(200);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is paused longer than its lease: others take its responses, and when it wakes it stores and shows nothing of them",
    async () => {
      verifies("outages.node.paused");
      const database = await databaseOfTest();
      const [left, right] = [await startNode(database), await startNode(database)];
      const shown = await stream(left, "slow");
      const id = await shown.id;
      await expect.poll(() => shown.numbers.length).toBeGreaterThan(4);
      left.pause();
      await sleep(LEASE_MS);
      await expect.poll(async () => (await look(right, id)).body["status"], { timeout: 60_000 }).toBe("failed");
      const logged = await replay(right, id);
      left.resume();
      await shown.over;
      expect(shown.types).not.toContain("response.completed");
      expect(shown.numbers.filter((number) => number >= logged.numbers.length)).toEqual([]);
      await expect.poll(async () => (await create(left, "Say hello")).status, { timeout: 20_000 }).toBe(200);
      expect((await replay(left, id)).numbers).toEqual(logged.numbers);
    },
    TEST_TIMEOUT_MS,
  );
});
