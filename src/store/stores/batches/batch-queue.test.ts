import type { BatchWork, HeldBatch, HeldLine } from "@antiphon/domain/batches/batch-work.ts";
import { OPEN_BATCHES_MAX } from "@antiphon/domain/batches/batches.ts";
import { assert, expect } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { Store } from "../../open-store.ts";
import { openTestStore, runSql, temporaryFile, testStores } from "../../store.fixture.ts";
import { OURS } from "../../stored-shapes.fixture.ts";

const NEW = {
  endpoint: "/v1/responses",
  inputFileId: "file-1",
  completionWindow: "24h",
  metadata: null,
  outputExpiresAfter: null,
  keyId: "key_1",
} as const;
const USAGE = { inputTokens: 3, cachedTokens: 1, outputTokens: 2, reasoningTokens: 1 };

async function newBatch({ batches }: Store): Promise<string> {
  return (await batches.batches.create(OURS, NEW))?.id ?? "";
}

async function workOf({ batches }: Store, type: BatchWork["type"]): Promise<HeldBatch> {
  const work = await batches.queue.claimWork();
  assert(work?.type === type);
  return work.batch;
}

/** A batch of this many lines, which can be answered. */
async function begunBatch(store: Store, count: number): Promise<string> {
  const id = await newBatch(store);
  const batch = await workOf(store, "check");
  const lines = Array.from({ length: count }, (_, index) => ({ line: index + 1, customId: `c${index}`, body: "{}" }));
  expect(await store.batches.queue.addLines(batch, lines)).toBe(true);
  await store.batches.queue.begin(batch, count, "m");
  return id;
}

async function lineOf({ batches }: Store): Promise<HeldLine> {
  const line = await batches.lines.claim();
  assert(line !== null);
  return line;
}

testStores("batches take turns, and a line is claimed once", async () => {
  verifies("batches.sharing.servers");
  const file = temporaryFile();
  const store = await openTestStore({ file });
  const other = await openTestStore({ file });
  const first = await begunBatch(store, 3);
  const second = await begunBatch(store, 1);
  const ids = [await lineOf(store), await lineOf(store), await lineOf(store)].map(({ batchId }) => batchId);
  expect(ids).toEqual([first, second, first]);
  expect(await lineOf(other)).toMatchObject({ batchId: first, line: 3, customId: "c2" });
  expect(await store.batches.lines.claim()).toBeNull();
});

testStores("only who holds a line settles it and names its responses, and a dead worker's lines are free", async () => {
  verifies("batches.crash.each-line-once");
  const file = temporaryFile();
  const dying = await openTestStore({ file });
  const living = await openTestStore({ file });
  const id = await begunBatch(living, 1);
  const lost = await lineOf(dying);
  const run = { choice: 0, responseId: "resp_1", isKept: true };
  await dying.batches.lines.nameRun(lost, run);
  await dying.close();
  expect(await living.batches.queue.look()).toBe(1);
  const line = await lineOf(living);
  expect(await living.batches.lines.runsOf(line)).toEqual([run]);
  const outcome = { state: "done", result: "{}", usage: USAGE } as const;
  expect(await living.batches.lines.settle(lost, outcome)).toBe(false);
  await expect(living.batches.lines.nameRun(lost, run)).rejects.toThrow("another worker's");
  expect(await living.batches.lines.settle(line, outcome)).toBe(true);
  expect(await living.batches.lines.settle(line, outcome)).toBe(false);
  expect(await living.batches.batches.find(OURS, id)).toMatchObject({
    request_counts: { total: 1, completed: 1, failed: 0 },
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  });
});

testStores("a line that is put off is due after its pause", async () => {
  verifies("batches.lines.passing-faults");
  const store = await openTestStore();
  await begunBatch(store, 1);
  await store.batches.lines.release(await lineOf(store), 60_000, true);
  expect(await store.batches.lines.claim()).toBeNull();
});

testStores("a batch ends with its files once no line is held, and leaves nothing of its lines", async () => {
  verifies("batches.ends.cancelled", "batches.output.files");
  const file = temporaryFile();
  const store = await openTestStore({ file });
  const { queue, lines, batches } = store.batches;
  const id = await begunBatch(store, 3);
  const line = await lineOf(store);
  await batches.cancel(OURS, id);
  expect(await lines.claim()).toBeNull();
  expect(await queue.claimWork()).toBeNull(); // The line is under way.
  const result = "x".repeat(2 * 1024 * 1024);
  await lines.settle(line, { state: "done", result, usage: USAGE });
  const batch = await workOf(store, "finish");
  const files = await queue.nameFiles(batch);
  expect(await queue.nameFiles(batch)).toEqual(files);
  expect((await queue.linesOf(batch, "done", 0)).map((written) => written.line)).toEqual([1]);
  expect((await queue.linesOf(batch, "not done", 0)).map((written) => written.result)).toEqual([null, null]);
  expect(await queue.linesOf(batch, "not done", 3)).toEqual([]);
  expect(await batches.find(OURS, id)).not.toHaveProperty("output_file_id");
  await queue.end(batch, "cancelled", { ...files, errorFileId: null });
  const ended = await batches.find(OURS, id);
  expect(ended).toMatchObject({ status: "cancelled", output_file_id: files.outputFileId });
  expect(ended).not.toHaveProperty("error_file_id");
  const over = await workOf(store, "clear");
  expect(await queue.removeLines(over)).toBe(true);
  expect(await queue.removeLines(over)).toBe(false);
  await queue.close(over);
  expect(await runSql(file, "select line from batch_lines")).toEqual([]);
  expect(await queue.look()).toBe(0);
});

testStores("a batch that is never checked expires, and a project has a limited number of open ones", async () => {
  verifies("batches.ends.expired");
  const file = temporaryFile();
  const store = await openTestStore({ file });
  const id = await newBatch(store);
  await runSql(file, "update batches set expires_at = created_at");
  await store.batches.queue.look();
  expect(await store.batches.batches.find(OURS, id)).toMatchObject({ status: "finalizing" });
  for (let count = 1; count < OPEN_BATCHES_MAX; count++) expect(await newBatch(store)).not.toBe("");
  expect(await newBatch(store)).toBe("");
});

testStores("what this process holds and does not know is free again", async () => {
  verifies("batches.crash.outages");
  const store = await openTestStore();
  const { queue, lines } = store.batches;
  await begunBatch(store, 3);
  const known = await lineOf(store);
  await lineOf(store);
  await lines.releaseOthers([known]);
  expect([(await lineOf(store)).line, (await lineOf(store)).line]).toEqual([2, 3]);
  expect(await lines.claim()).toBeNull();
  await lines.releaseOthers([]);
  expect((await lineOf(store)).line).toBe(1);
  await newBatch(store);
  const batch = await workOf(store, "check");
  await queue.releaseOthers(batch);
  expect(await queue.claimWork()).toBeNull();
  await queue.releaseOthers(null);
  expect((await workOf(store, "check")).id).toBe(batch.id);
});
