import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { promote, startPostgres, startReplica, whyNoPostgres } from "../services/postgres-server.ts";
import { startTcpProxy } from "../services/proxy-of-test.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import type { TcpProxy } from "../services/tcp-proxy.ts";
import { someCases } from "../trials.ts";
import { verifies } from "../verifies.ts";
import {
  answerOf,
  create,
  DATABASE_TIMEOUT_MS,
  expectDense,
  expectLater,
  look,
  metric,
  readiness,
  replay,
  startNode,
  stream,
  TEST_TIMEOUT_MS,
} from "./nodes.ts";
import { expectWhole, startPlain, startReaders } from "./readers.ts";

const OUTAGES = [
  ["is down", (proxy: TcpProxy) => proxy.cut()],
  ["is cut off without a word", async (proxy: TcpProxy) => proxy.silence()],
] as const;

const why = whyNoPostgres();

/** Where a lease that is lost fails the test, a busy machine must not be the reason. */
const PATIENT_LEASE_MS = 8000;
const PATIENT = { LEASE_MS: String(PATIENT_LEASE_MS) };

describe.skipIf(why !== undefined)(`the database${why === undefined ? "" : ` (${why})`}`, () => {
  test.each(someCases(OUTAGES, 2))(
    "%s: requests get 503 and when to come again, readers wait and go on where they were, and all heals by itself",
    async (_what, breakIt) => {
      verifies("outages.database.down");
      verifies("state.outages.waited-out");
      verifies("outages.database.readers-wait");
      verifies("state.lease.readers-follow");
      const direct = await databaseOfTest();
      const proxy = await startTcpProxy(direct);
      const database = proxy.through(direct);
      const [left, right] = [await startNode(database), await startNode(database)];
      const before = await create(left, "Say hello");
      expect(before.status).toBe(200);
      const plain = await startPlain(left);
      const readers = await startReaders(left, right);

      await breakIt(proxy);
      const began = performance.now();
      expectLater(await create(left, "Say hello"));
      expect(performance.now() - began).toBeLessThan(4 * DATABASE_TIMEOUT_MS + 2000);
      expectLater(await look(left, before.body["id"]));
      expectLater(await answerOf(await right.fetch(`/v1/responses/${await readers[0]?.id}/events`)));
      expect(await readiness(left)).toMatchObject({ status: 503, store: "unavailable", server: "ok" });
      expect((await left.fetch("/healthz")).status).toBe(200);
      await sleep(2 * DATABASE_TIMEOUT_MS); // What was tried again has failed by now, too.
      for (const { what, types } of readers) expect(types, what).not.toContain("error");

      await proxy.heal();
      await expect.poll(async () => (await readiness(left))["status"], { timeout: 20_000 }).toBe(200);
      await expect.poll(async () => (await create(left, "Say hello")).status, { timeout: 20_000 }).toBe(200);
      expect(await look(left, before.body["id"])).toMatchObject({ status: 200, body: { status: "completed" } });
      await expectWhole(readers, right);
      expect(await plain.answer).toMatchObject({
        status: 200,
        body: { status: expect.stringMatching(/^(failed|completed)$/) },
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is slow: everything is answered, only later",
    async () => {
      verifies("outages.database.slow");
      const direct = await databaseOfTest();
      const proxy = await startTcpProxy(direct);
      const node = await startNode(proxy.through(direct), PATIENT);
      expect((await create(node, "Say hello")).status).toBe(200);
      proxy.delay(100);
      const answers = await Promise.all(Array.from({ length: 4 }, () => create(node, "Say hello")));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const slow = await stream(node, "slow");
      await slow.over;
      expectDense(slow.numbers);
      expect(slow.types.at(-1)).toBe("response.completed");
      expect(await readiness(node)).toMatchObject({ status: 200, store: "ok" });
      expect(await metric(node, "antiphon_leases_lost_total")).toBe(0);
      expect(await metric(node, "antiphon_database_connections", 'lane="commits"')).toBe(1);
      expect(await metric(node, "antiphon_database_waiting")).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "loses its power and starts again: nothing that was answered is lost, and no node takes another for dead",
    async () => {
      verifies("outages.database.restarts");
      const postgres = await startPostgres({ fsync: true });
      onTestFinished(() => postgres.stop());
      const [left, right] = [await startNode(postgres.url(), PATIENT), await startNode(postgres.url(), PATIENT)];
      const stored = await Promise.all(Array.from({ length: 8 }, () => create(left, "Say hello")));
      expect(stored.map(({ status }) => status)).toEqual(stored.map(() => 200));
      const queued = await create(left, "silent", { background: true });
      await expect.poll(async () => (await look(right, queued.body["id"])).body["status"]).toBe("in_progress");
      await postgres.crash();
      expectLater(await create(right, "Say hello"));
      await sleep(PATIENT_LEASE_MS + 1000); // Longer than any lease: nobody could renew.
      await postgres.start();
      for (const node of [left, right])
        await expect.poll(async () => (await create(node, "Say hello")).status, { timeout: 20_000 }).toBe(200);
      for (const { body } of stored)
        expect(await look(right, body["id"])).toMatchObject({ body: { status: "completed" } });
      expect(await metric(right, "antiphon_runs_claimed_total", 'from="dead"')).toBe(0);
      await expect
        .poll(async () => (await look(right, queued.body["id"])).body["status"], { timeout: 60_000 })
        .toMatch(/^(completed|failed)$/);
      expectDense((await replay(right, String(queued.body["id"]))).numbers);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "fails over to a synchronous replica: all that was answered is there, and both nodes go on",
    async () => {
      verifies("outages.database.fails-over");
      const primary = await startPostgres();
      onTestFinished(() => primary.stop());
      const replica = await startReplica(primary);
      onTestFinished(() => replica.stop());
      const proxy = await startTcpProxy(primary.url());
      const database = proxy.through(primary.url());
      const [left, right] = [await startNode(database), await startNode(database)];
      const running = await stream(left, "slow");
      await expect.poll(() => running.numbers.length).toBeGreaterThan(4);
      const stored = await Promise.all(Array.from({ length: 8 }, () => create(left, "Say hello")));
      expect(stored.map(({ status }) => status)).toEqual(stored.map(() => 200));

      await primary.crash();
      expectLater(await create(right, "Say hello"));
      await promote(replica);
      proxy.aim(replica.url());
      for (const node of [left, right])
        await expect.poll(async () => (await create(node, "Say hello")).status, { timeout: 20_000 }).toBe(200);
      for (const { body } of stored)
        expect(await look(right, body["id"])).toMatchObject({ status: 200, body: { status: "completed" } });
      await running.over;
      const id = await running.id;
      await expect
        .poll(async () => (await look(right, id)).body["status"], { timeout: 30_000 })
        .toMatch(/^(failed|completed)$/);
      const logged = await replay(right, id);
      expectDense(logged.numbers);
      expect(running.types).toEqual(logged.types);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is cut off from one node only: the other goes on, takes over what was begun, and the first comes back with a new lease",
    async () => {
      verifies("outages.node.cut-off");
      const direct = await databaseOfTest();
      const proxy = await startTcpProxy(direct);
      const [left, right] = [await startNode(proxy.through(direct)), await startNode(direct)];
      const begun = await create(left, "silent", { background: true });
      const id = String(begun.body["id"]);
      await expect.poll(async () => (await look(right, id)).body["status"]).toBe("in_progress");

      proxy.silence();
      expect((await create(right, "Say hello")).status).toBe(200);
      expect(await readiness(left)).toMatchObject({ status: 503, store: "unavailable" });
      expect(await readiness(right)).toMatchObject({ status: 200 });
      await expect
        .poll(() => metric(right, "antiphon_runs_claimed_total", 'from="dead"'), { timeout: 30_000 })
        .toBeGreaterThan(0);

      await proxy.heal();
      await expect.poll(async () => (await create(left, "Say hello")).status, { timeout: 20_000 }).toBe(200);
      await expect
        .poll(async () => (await look(left, id)).body["status"], { timeout: 60_000 })
        .toMatch(/^(completed|failed)$/);
      const [here, there] = [await replay(left, id), await replay(right, id)];
      expectDense(here.numbers);
      expect(here.types).toEqual(there.types);
      expect(here.types.filter((type) => /^response[.](completed|failed)$/.test(type))).toHaveLength(1);
    },
    TEST_TIMEOUT_MS,
  );
});
