import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { until } from "../crash/lives.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { readResponse } from "../responses/read-stream.ts";
import { startTcpProxy } from "../services/proxy-of-test.ts";
import { verifies } from "../verifies.ts";
import { LONG_PAUSE } from "./faults.ts";
import { type FaultyWorld, faultyWorld } from "./faulty-world.ts";

const TEST_TIMEOUT_MS = 60_000;

function startNode(folder: string, world: FaultyWorld, env: Readonly<Record<string, string>>): Promise<ChildServer> {
  const settings = { DATA_DIR: folder, MODEL_BASE_URL: world.modelUrl, EGRESS_ALLOW: "127.0.0.1" };
  return startChildServer({ env: { NODE_ENV: "production", ...settings, ...env } });
}

async function enqueue(server: ChildServer, world: FaultyWorld, number: number): Promise<string> {
  const tools = [{ type: "mcp", server_label: "bank", server_url: world.mcpUrl, require_approval: "never" }];
  const body = { model: "m", input: `number ${number}`, tools, background: true };
  return (await readResponse(await server.post("/v1/responses", body))).id;
}

test(
  "a response that waits for its model gives its place to others, and another server goes on with it in time",
  async () => {
    verifies("models.retries.waiting-runs", "state.notes.of-what-happened");
    const folder = temporaryFolder();
    const world = await faultyWorld([{ fault: LONG_PAUSE, turn: 1, times: 1 }]);
    const left = await startNode(folder, world, { NODE_NAME: "left", BACKGROUND_RUNS_MAX: "1" });
    const waiting = await enqueue(left, world, 0);
    while (world.asked(0).length < 2) await sleep(10);
    const other = await enqueue(left, world, 1);

    await until(left, other, "completed"); // There is one place.
    expect([world.asked(0), await until(left, waiting, "in_progress")]).toMatchObject([[0, 1], { id: waiting }]);
    expect(await left.stop()).toBe(0);
    const right = await startNode(folder, world, { NODE_NAME: "right" });
    const ended = await until(right, waiting, "completed", "failed");

    expect(ended.status).toBe("completed");
    expect([world.asked(0), world.done(0)]).toEqual([
      [0, 1, 1, 2],
      ["look", "pay"],
    ]);
    const client = new Antiphon({ baseUrl: right.url, apiKey: right.apiKey });
    const { notes } = await client.listResponseExchanges(waiting);
    const happened = notes.filter(({ at }) => at !== undefined);
    expect(happened).toMatchObject([{ kind: "waited", what: "model", node: "left" }]);
    expect(happened[0]?.why).toMatch(/The model server says 500\. It is asked again after 4\.\d s\.$/);
  },
  TEST_TIMEOUT_MS,
);

test(
  "a model server that is away for a while delays responses in the background",
  async () => {
    verifies("models.retries.passing-faults");
    const world = await faultyWorld([]);
    const proxy = await startTcpProxy(world.modelUrl);
    const far = { ...world, modelUrl: proxy.through(world.modelUrl) };
    const server = await startNode(temporaryFolder(), far, {});
    await proxy.cut();
    const ids = await Promise.all([0, 1, 2].map((number) => enqueue(server, world, number)));
    const metric = async () =>
      /antiphon_runs_waited_total (\d+)/.exec(await (await server.fetch("/metrics")).text())?.[1];
    while (Number((await metric()) ?? 0) < 3) await sleep(50);

    await proxy.heal();

    for (const [number, id] of ids.entries()) {
      expect((await until(server, id, "completed", "failed")).status).toBe("completed");
      expect(world.done(number)).toEqual(["look", "pay"]);
    }
  },
  TEST_TIMEOUT_MS,
);
