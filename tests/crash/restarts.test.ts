import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { readResponse } from "../responses/read-stream.ts";
import { query } from "../tested-store.ts";
import { verifies } from "../verifies.ts";
import { dataFolder, enqueue, serveModel, start, until } from "./lives.ts";

const TEST_TIMEOUT_MS = 120_000;

test(
  "the interrupted answers of a killed server are ended at once, even if its successor is busy with restarted runs",
  async () => {
    verifies("state.crash.ended-at-once");
    const [folder, model] = [await dataFolder(), await serveModel()];
    const first = await start(folder, model.url);
    const silent = await enqueue(first, "silence");
    const told = first.post("/v1/responses", { model: "m", input: "wait", stream: true }).catch(() => null);
    await sleep(300);
    await first.kill();
    await told;
    await start(folder, model.url, { BACKGROUND_RUNS_MAX: "1" });
    const statuses = await query(folder, "select id, status from responses");
    expect(statuses).toHaveLength(2);
    for (const { id, status } of statuses) expect(status).toBe(id === silent ? "queued" : "failed");
  },
  TEST_TIMEOUT_MS,
);

test(
  "a background response that crashes the server each time is restarted only a few times",
  async () => {
    verifies("state.crash.restarts-are-limited");
    const [folder, model] = [await dataFolder(), await serveModel()];
    let server = await start(folder, model.url);
    const id = await enqueue(server, "silence");
    let deaths = 0;
    for (; deaths < 10; deaths++) {
      const calls = model.calls();
      const { status } = await readResponse(await server.fetch(`/v1/responses/${id}`));
      if (status === "failed") break;
      for (let waited = 0; model.calls() === calls && waited < 100; waited++) await sleep(10);
      await server.kill();
      server = await start(folder, model.url);
    }
    expect(await until(server, id, "failed")).toMatchObject({ error: { code: "server_error" } });
    expect(deaths).toBeLessThan(6);
    expect(deaths).toBeGreaterThan(2);
  },
  TEST_TIMEOUT_MS,
);
