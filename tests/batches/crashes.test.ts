import { assert, expect, test } from "vitest";
import { serveModel } from "../crash/lives.ts";
import { payingWorld } from "../crash/paying-world.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { verifies } from "../verifies.ts";
import { batchThatIs, clientOf, lineFor, linesIn, startBatch } from "./batch-kit.ts";

const LINES = 40;
const TEST_TIMEOUT_MS = 300_000;

type World = Awaited<ReturnType<typeof payingWorld>>;

function start(
  dataDir: string,
  { modelUrl }: Pick<World, "modelUrl">,
  more: Readonly<Record<string, string>> = {},
): Promise<ChildServer> {
  const env = { DATA_DIR: dataDir, LEASE_MS: "3000", MODEL_BASE_URL: modelUrl, EGRESS_ALLOW: "127.0.0.1", ...more };
  return startChildServer({ env });
}

function payingLines({ mcpUrl }: World): readonly string[] {
  const bank = { type: "mcp", server_label: "bank", server_url: mcpUrl, require_approval: "never" };
  return Array.from({ length: LINES }, (_, number) =>
    lineFor("/v1/responses", `pay ${number}`, { model: "m", input: `number ${number}`, tools: [bank] }),
  );
}

/** Each line is answered by one response, and pays at most once. */
async function checkOnce(folder: string, { done }: World): Promise<void> {
  const payments = done.filter((call) => call.startsWith("pay"));
  expect(payments.toSorted()).toEqual([...new Set(payments)].toSorted());
  expect(await query(folder, "select count(*) as count from responses")).toEqual([{ count: LINES }]);
  // What was stored of the lines is gone.
  await expect.poll(() => query(folder, "select line from batch_lines"), { timeout: 20_000 }).toEqual([]);
  await expect.poll(() => query(folder, "select line from batch_runs"), { timeout: 20_000 }).toEqual([]);
}

test(
  "a batch goes on after each kill -9 where it was, and answers each line once",
  async () => {
    verifies("batches.crash.each-line-once", "batches.lines.hosted-tools");
    const [folder, world] = [temporaryFolder(), await payingWorld()];
    let server = await start(folder, world);
    const { id } = await startBatch(clientOf(server), payingLines(world));
    for (const calls of [10, 35, 60]) {
      await expect.poll(() => world.done.length, { timeout: 60_000, interval: 2 }).toBeGreaterThanOrEqual(calls);
      await server.kill();
      server = await start(folder, world);
    }
    const client = clientOf(server);
    const ended = await batchThatIs(client, id, "completed");
    expect(ended.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
    const lines = await linesIn(client, ended.output_file_id);
    expect([...lines.keys()].toSorted()).toEqual(
      Array.from({ length: LINES }, (_, number) => `pay ${number}`).toSorted(),
    );
    expect(lines.get("pay 3")?.response?.body).toMatchObject({ status: "completed" });
    await checkOnce(folder, world);
    expect(world.done.filter((call) => call.startsWith("pay")).length).toBeGreaterThan(LINES / 2);
  },
  TEST_TIMEOUT_MS,
);

test(
  "two servers of one database share the lines of a batch, and one that stops leaves its lines to the other",
  async () => {
    verifies("batches.sharing.servers", "batches.crash.each-line-once", "batches.priority.lines-at-once");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const world = { modelUrl: model.url };
    const first = await start(folder, world, { BATCH_LINES_MAX: "3", DRAIN_MS: "300" });
    const second = await start(folder, world, { BATCH_LINES_MAX: "3" });
    const lines = Array.from({ length: LINES }, (_, number) =>
      lineFor("/v1/responses", `line ${number}`, { model: "m", input: `wait ${number}` }),
    );
    const { id } = await startBatch(clientOf(first), lines);
    const held = () =>
      query(
        folder,
        `select count(*) as lines from batch_lines where worker is not null
        group by worker order by worker`,
      );
    await expect.poll(held, { timeout: 60_000 }).toEqual([{ lines: 3 }, { lines: 3 }]);
    expect(await first.stop()).toBe(0);
    await expect.poll(held, { timeout: 60_000 }).toEqual([{ lines: 3 }]);
    model.release();
    const ended = await batchThatIs(clientOf(second), id, "completed");
    expect(ended.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
    expect((await linesIn(clientOf(second), ended.output_file_id)).size).toBe(LINES);
    expect(await query(folder, "select count(*) as count from responses")).toEqual([{ count: LINES }]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "a kill -9 while a file is checked or written leaves one batch with one output file",
  async () => {
    verifies("batches.crash.files-once");
    const [folder, world] = [temporaryFolder(), await payingWorld()];
    const many = 2_000;
    const lines = Array.from({ length: many }, (_, number) =>
      lineFor("/v1/responses", `line ${number}`, { model: "m", input: "x".repeat(2_000), wrong: number }),
    );
    let server = await start(folder, world);
    const { id } = await startBatch(clientOf(server), lines);
    const stored = () => query(folder, "select count(*) as count from batch_lines");
    await expect.poll(async () => Number((await stored())[0]?.["count"]), { interval: 1 }).toBeGreaterThan(0);
    await server.kill();
    server = await start(folder, world);
    const named = () => query(folder, "select id from batches where error_file_id is not null");
    await expect.poll(async () => (await named()).length, { timeout: 120_000, interval: 1 }).toBe(1);
    await server.kill();
    server = await start(folder, world);
    const client = clientOf(server);
    const ended = await batchThatIs(client, id, "completed");
    expect(ended.request_counts).toEqual({ total: many, completed: 0, failed: many });
    assert(ended.error_file_id !== undefined);
    expect((await linesIn(client, ended.error_file_id)).size).toBe(many);
    const files = await client.files.list({ purpose: "batch_output" });
    expect(files.data.map((file) => file.id)).toEqual([ended.error_file_id]);
  },
  TEST_TIMEOUT_MS,
);
