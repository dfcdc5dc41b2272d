import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { readResponse } from "../responses/read-stream.ts";
import { someCases } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { enqueue, serveModel, start, until } from "./lives.ts";
import { slowSteps } from "./slow-steps.ts";

const TEST_TIMEOUT_MS = 240_000;

test(
  "the interrupted answers of a killed server are ended at once, even if its successor is busy with restarted runs",
  async () => {
    verifies("state.crash.ended-at-once");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const first = await start(folder, model.url);
    const silent = await enqueue(first, "silence");
    const told = first.post("/v1/responses", { model: "m", input: "wait", stream: true }).catch(() => null);
    await expect.poll(() => query(folder, "select id from responses")).toHaveLength(2);
    await expect.poll(model.turns).toBe(2);
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
    const [folder, model] = [temporaryFolder(), await serveModel()];
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
    expect(await until(server, id, "failed")).toMatchObject({
      error: { code: "server_error", message: expect.stringContaining("several times while it made the same step") },
    });
    expect(deaths).toBeLessThan(6);
    expect(deaths).toBeGreaterThan(2);
  },
  TEST_TIMEOUT_MS,
);

const POLLING = { timeout: 60_000 };
/** More than are allowed without progress. */
const LIVES = 6;

test.each(someCases(["kill", "stop"] as const, 2))(
  "a background response that progresses goes on after any number of servers: %s",
  async (ending) => {
    verifies("state.crash.restarts-are-limited");
    const world = await slowSteps(LIVES);
    const folder = temporaryFolder();
    const env = { EGRESS_ALLOW: "127.0.0.1", DRAIN_MS: "200" };
    let server = await start(folder, world.modelUrl, env);
    const tools = [{ type: "mcp", server_label: "bank", server_url: world.mcpUrl, require_approval: "never" }];
    const body = { model: "m", input: "number 1", tools, background: true };
    const { id } = await readResponse(await server.post("/v1/responses", body));
    for (let life = 0; life < LIVES; life++) {
      await world.begun(life); // Its call is under way, and runs again in the next life.
      // A call without effects does not wait for the record of its turn, which is what the next life goes on from.
      await expect.poll(() => query(folder, "select number from tool_turns"), POLLING).toHaveLength(life + 1);
      await server[ending]();
      server = await start(folder, world.modelUrl, env);
    }
    expect(await until(server, id, "completed", "failed")).toMatchObject({ status: "completed", error: null });
    expect(world.turns()).toBe(LIVES + 1);
  },
  TEST_TIMEOUT_MS,
);
