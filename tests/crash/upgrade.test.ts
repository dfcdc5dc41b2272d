import { expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { dataFolder, enqueue, query, serveModel, start, until } from "./lives.ts";

const TEST_TIMEOUT_MS = 60_000;

/** Tasks as other versions store them (SQL statements on the stored JSON), and how the response ends. */
const LEFT: Readonly<Record<string, readonly [change: string, status: "completed" | "failed", message: RegExp]>> = {
  "an earlier version, before tasks had a number": [
    "json_remove(task, '$.version', '$.speech', '$.compaction', '$.request.presencePenalty', '$.request.trace')",
    "completed",
    /^$/,
  ],
  "a later version": ["json_set(task, '$.version', 1000)", "failed", /begun by another version of this server/],
  "a version that wrote something else": ["'{}'", "failed", /begun by another version of this server/],
  "a version that did not write JSON": ["'task'", "failed", /begun by another version of this server/],
};

test.each(Object.entries(LEFT))(
  "a background response that %s left waiting ends",
  async (_title, [change, status, message]) => {
    verifies("state.crash.tasks-of-other-versions");
    const [folder, model] = [await dataFolder(), await serveModel()];
    const first = await start(folder, model.url, { BACKGROUND_RUNS_MAX: "1" });
    await enqueue(first, "silence");
    const waiting = await enqueue(first, "go");
    await first.kill();
    query(folder, `update responses set task = ${change} where id = '${waiting}'`);
    const second = await start(folder, model.url);
    const ended = await until(second, waiting, "completed", "failed", "incomplete");
    expect(ended.status).toBe(status);
    expect(ended.error?.message ?? "").toMatch(message);
  },
  TEST_TIMEOUT_MS,
);
