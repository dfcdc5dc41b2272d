import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { readResponse } from "../responses/read-stream.ts";
import { startRedis, whyNoRedis } from "../services/redis-server.ts";
import { redisOfRun } from "../services/services-of-run.ts";
import { someCases } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { begin, metric, read, serveToldModel, startNodes, TEST_TIMEOUT_MS, whyNoNodes } from "./nodes.ts";

const BROKERS: Readonly<Record<string, { readonly why: string | undefined; env(): Promise<Record<string, string>> }>> =
  {
    PostgreSQL: { why: undefined, env: async () => ({}) },
    Redis: { why: whyNoRedis(), env: async () => ({ BUS_URL: await redisOfRun() }) },
  };

describe.skipIf(whyNoNodes() !== undefined)("several nodes on one PostgreSQL", { timeout: TEST_TIMEOUT_MS }, () => {
  for (const [name, broker] of someCases(Object.entries(BROKERS), 2))
    describe.skipIf(broker.why !== undefined)(`with ${name} between them`, () => {
      test("a response is followed alike through every node, by messages", async () => {
        verifies("operations.nodes.runs-anywhere");
        const model = await serveToldModel();
        const nodes = await startNodes(3, model.url, await broker.env());
        const id = await begin(nodes[0]);
        await expect.poll(model.calls).toBe(1);
        const readers = await Promise.all(nodes.map((node) => read(node, id)));
        for (let turn = 0; turn < 40; turn++) {
          model.say(1 + (turn % 4));
          await sleep(20);
        }
        const late = await Promise.all(nodes.map((node) => read(node, id, 20)));
        model.say(30);
        model.finish();
        await Promise.all([...readers, ...late].map(({ over }) => over));
        const [first, ...others] = readers.map(({ lines }) => lines);
        expect(first?.map(numberOf)).toEqual(first?.map((_, number) => number));
        expect(first?.at(-1)).toContain('"type":"response.completed"');
        for (const other of others) expect(other).toEqual(first);
        for (const { lines } of late) expect(lines).toEqual(first?.slice(21));
        expect(await metric(nodes[1], "antiphon_bus_messages_total")).toBeGreaterThan(10);
      });

      test("a response is cancelled, deleted and waited for through every node", async () => {
        verifies("operations.nodes.runs-anywhere");
        const model = await serveToldModel();
        const nodes = await startNodes(3, model.url, await broker.env());
        for (const node of nodes.slice(1)) {
          const id = await begin(nodes[0]);
          const reader = await read(nodes[2] ?? node, id);
          const cancelled = await readResponse(await node.post(`/v1/responses/${id}/cancel`, {}));
          expect(cancelled.status).toBe("cancelled");
          await reader.over;
          expect((await node.fetch(`/v1/responses/${id}`, { method: "DELETE" })).status).toBe(200);
          const replies = await Promise.all(nodes.map((each) => each.fetch(`/v1/responses/${id}`)));
          expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
        }
        const running = await begin(nodes[0]);
        await expect.poll(model.calls).toBeGreaterThan(0);
        expect((await nodes[1].fetch(`/v1/responses/${running}`, { method: "DELETE" })).status).toBe(200);
        await expect.poll(() => metric(nodes[0], "antiphon_runs_running"), { timeout: 5_000 }).toBe(0);
      });

      test("readers go on when the node that makes a response is killed or told to stop", async () => {
        verifies("operations.nodes.runs-anywhere");
        const model = await serveToldModel();
        const env = { ...(await broker.env()), DRAIN_MS: "500" };
        const [first, second, third = second] = await startNodes(3, model.url, env);
        const [told, killed] = [await begin(second), await begin(first)];
        await expect.poll(model.calls).toBe(2);
        const readers = [await read(third, told), await read(third, killed)];
        model.say(5);
        await first.kill();
        await second.stop();
        model.finish(); // The third node goes on with both.
        await Promise.all(readers.map(({ over }) => over));
        for (const { lines } of readers) {
          expect(lines.map(numberOf)).toEqual(lines.map((_, number) => number));
          expect(lines.at(-1)).toContain('"type":"response.completed"');
        }
      });
    });

  test.skipIf(whyNoRedis() !== undefined)(
    "while the broker is away readers elsewhere are about a second behind and miss nothing; then all is as before",
    async () => {
      verifies("operations.nodes.broker-away");
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const model = await serveToldModel();
      const [maker, other] = await startNodes(2, model.url, { BUS_URL: redis.url });
      const id = await begin(maker);
      await expect.poll(model.calls).toBe(1);
      const [here, there] = [await read(maker, id), await read(other, id)];
      model.say(5);
      await expect.poll(() => there.lines.length - here.lines.length).toBe(0);
      await redis.crash();
      for (let turn = 0; turn < 30; turn++) {
        model.say(3);
        await sleep(100);
      }
      await expect.poll(() => there.lines.length - here.lines.length, { timeout: 5_000 }).toBe(0);
      expect(await metric(other, "antiphon_bus_catch_ups_total")).toBeGreaterThan(0);
      const stopping = await begin(maker);
      const cancelled = await readResponse(await other.post(`/v1/responses/${stopping}/cancel`, {}));
      expect(cancelled.status).toBe("cancelled");
      await redis.start();
      await expect.poll(() => metric(other, "antiphon_bus_reconnects_total"), { timeout: 20_000 }).toBeGreaterThan(0);
      await expect.poll(() => metric(maker, "antiphon_bus_reconnects_total"), { timeout: 20_000 }).toBeGreaterThan(0);
      model.say(10);
      model.finish();
      await Promise.all([here.over, there.over]);
      expect(there.lines).toEqual(here.lines);
      expect(here.lines.map(numberOf)).toEqual(here.lines.map((_, number) => number));
    },
  );
});

function numberOf(line: string): number {
  return Number(/"sequence_number":(\d+)/.exec(line)?.[1]);
}
