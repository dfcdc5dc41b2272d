import { describe, expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { aRequest } from "../../model-engines/built-in/request.fixture.ts";
import type { RunTask } from "./run-task.ts";
import { readTask, TASK_VERSION, writeTask } from "./stored-task.ts";

const TASK: RunTask = {
  ids: { key: "0123456789abcdef", createdAt: 1_700_000_000, seed: "fedcba9876543210" },
  rawReasoningAs: "summary",
  sealsReasoning: true,
  inputTokensEstimate: 3,
  request: { ...aRequest("Hi"), trace: null },
  speech: { format: "mp3", voice: null, sampleRateHz: 24_000 },
  compaction: { type: "after", threshold: 1000 },
};

verifies("state.crash.tasks-of-other-versions");

test("a stored task reads back unchanged", async () => {
  expect(readTask(await writeTask(TASK))).toEqual({ task: TASK });
});

describe("a task that was stored without a version", () => {
  test("reads back unchanged", () => expect(readTask(JSON.stringify(TASK))).toEqual({ task: TASK }));

  test("reads absent members as not requested", () => {
    const { ids, request } = TASK;
    const { model, items } = request;
    const expected = { ids, rawReasoningAs: "text", sealsReasoning: false, inputTokensEstimate: 0 };
    expect(readTask(JSON.stringify({ ids, request: { model, items } }))).toEqual({
      task: { ...expected, speech: null, compaction: null, request: { ...aRequest("Hi"), trace: null, model } },
    });
  });
});

test("a task of a later version is distinguished from an unreadable one", () => {
  expect(readTask(JSON.stringify({ ...TASK, version: TASK_VERSION + 1 }))).toEqual({ problem: "newer" });
  for (const json of [
    "",
    "null",
    "[]",
    '"text"',
    "{}",
    JSON.stringify({ ...TASK, version: "x" }),
    JSON.stringify({ ...TASK, version: TASK_VERSION, request: {} }),
    JSON.stringify({ ...TASK, ids: {} }),
    JSON.stringify({ ...TASK, request: { ...TASK.request, items: [7] } }),
    JSON.stringify({ ...TASK, speech: { format: 7 } }),
    JSON.stringify({ ...TASK, compaction: { type: "sometimes" } }),
  ])
    expect(readTask(json), json).toEqual({ problem: "unreadable" });
});
