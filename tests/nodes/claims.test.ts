import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { until } from "../crash/lives.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import { verifies } from "../verifies.ts";
import { begin, metric, serveToldModel, startNode, TEST_TIMEOUT_MS, whyNoNodes } from "./nodes.ts";

const RUNS = 12;
const PLACES = 3;

test.skipIf(whyNoNodes() !== undefined)(
  "a node takes as many of the responses that another left as it has places, and leaves the rest to others",
  async () => {
    verifies("state.claims.by-places");
    const model = await serveToldModel();
    const [DATABASE_URL, MODEL_CONTINUATION] = [await databaseOfTest(), "none"];
    const env = { DATABASE_URL, MODEL_CONTINUATION };
    const first = await startNode(model.url, env);
    const ids = await Promise.all(Array.from({ length: RUNS }, () => begin(first)));
    for (const id of ids) await until(first, id, "in_progress");
    const small = await startNode(model.url, { ...env, BACKGROUND_RUNS_MAX: String(PLACES) });
    const runsOf = async (node: typeof small): Promise<number> =>
      (await metric(node, "antiphon_runs_running")) + (await metric(node, "antiphon_runs_queued"));

    await first.kill();

    await expect.poll(() => runsOf(small), { timeout: 20_000 }).toBe(PLACES);
    const looks = 3_000; // It looks for more each second.
    for (const end = performance.now() + looks; performance.now() < end; await sleep(100))
      expect(await runsOf(small)).toBe(PLACES);
    const large = await startNode(model.url, { ...env, BACKGROUND_RUNS_MAX: "20" });
    await expect.poll(() => runsOf(large), { timeout: 20_000 }).toBe(RUNS - PLACES);
    expect(await runsOf(small)).toBe(PLACES);
    model.finish();
    for (const id of ids) expect((await until(large, id, "completed", "failed")).status).toBe("completed");
  },
  TEST_TIMEOUT_MS,
);
