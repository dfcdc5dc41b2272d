import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { verifies } from "../verifies.ts";
import { enqueue, serveModel, start, until } from "./lives.ts";

const TEST_TIMEOUT_MS = 120_000;

type Task = Readonly<Record<string, unknown>> & { readonly request: Readonly<Record<string, unknown>> };

/** What other versions store in place of a task of ours, and how the response ends. */
const LEFT: Readonly<
  Record<string, readonly [change: (task: Task) => string, status: "completed" | "failed", message: RegExp]>
> = {
  "an earlier version, before tasks had a number": [
    ({ version: _version, speech: _speech, compaction: _compaction, request, ...task }) => {
      const { presencePenalty: _presence, trace: _trace, ...asked } = request;
      return JSON.stringify({ ...task, request: asked });
    },
    "completed",
    /^$/,
  ],
  "a version that wrote something else": [() => "{}", "failed", /begun by another version of this server/],
  "a version that did not write JSON": [() => "task", "failed", /begun by another version of this server/],
};

test.each(Object.entries(LEFT))(
  "a background response that %s left waiting ends",
  async (_title, [change, status, message]) => {
    verifies("state.crash.tasks-of-other-versions");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const first = await start(folder, model.url, { BACKGROUND_RUNS_MAX: "1" });
    await enqueue(first, "silence");
    const waiting = await enqueue(first, "go");
    await first.kill();
    const [row] = await query(folder, "select task from responses where id = ?", waiting);
    await query(
      folder,
      "update responses set task = ? where id = ?",
      change(JSON.parse(String(row?.["task"]))),
      waiting,
    );
    const second = await start(folder, model.url);
    const ended = await until(second, waiting, "completed", "failed", "incomplete");
    expect(ended.status).toBe(status);
    expect(ended.error?.message ?? "").toMatch(message);
  },
  TEST_TIMEOUT_MS,
);

test(
  "a background response of a later version is left to a server that can read it",
  async () => {
    verifies("state.crash.tasks-of-other-versions");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const first = await start(folder, model.url, { BACKGROUND_RUNS_MAX: "1" });
    await enqueue(first, "silence");
    const waiting = await enqueue(first, "go");
    await first.kill();
    const [row] = await query(folder, "select task from responses where id = ?", waiting);
    const { version, ...task } = JSON.parse(String(row?.["task"]));
    const store = (json: string) => query(folder, "update responses set task = ? where id = ?", json, waiting);
    await store(JSON.stringify({ version: 1000, ...task }));
    const second = await start(folder, model.url);
    expect((await until(second, await enqueue(second, "go"), "completed", "failed")).status).toBe("completed");
    expect((await until(second, waiting, "queued", "completed", "failed")).status).toBe("queued");
    await store(JSON.stringify({ version, ...task }));
    expect((await until(second, waiting, "completed", "failed")).status).toBe("completed");
  },
  TEST_TIMEOUT_MS,
);
