import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { TASK_VERSION } from "../../runs/ports/event-log.ts";
import { createSealer } from "../seal.ts";
import type { RunTask } from "./run-task.ts";
import { toolSecrets } from "./seal-tools.ts";
import { readTask, writeTask } from "./stored-task.ts";

const TASK: RunTask = {
  ids: { key: "0123456789abcdef", createdAt: 1_700_000_000, seed: "fedcba9876543210" },
  reasoning: { rawAs: "summary", isSealed: true },
  inputTokensEstimate: 3,
  request: { ...aRequest(), trace: null },
  speech: { format: "mp3", voice: null, sampleRateHz: 24_000 },
  compaction: { type: "after", threshold: 1000 },
  tools: null,
  interruption: null,
};

/** The members of the task as they are stored. */
const { reasoning: _reasoning, ...OTHERS } = TASK;
const STORED = { ...OTHERS, rawReasoningAs: "summary", sealsReasoning: true };

type MessageItem = Extract<StoredItem, { type: "message" }>;

const SECRETS = toolSecrets(
  createSealer(() => [new Uint8Array(32)]),
  { organization: "o", project: "p" },
  "resp_1",
);

verifies("state.crash.tasks-of-other-versions");

test("a stored task reads back unchanged", async () => {
  expect(readTask(await writeTask(TASK, SECRETS), SECRETS)).toEqual({ task: TASK });
});

describe("a task that was stored without a version", () => {
  test("reads back unchanged", () => expect(readTask(JSON.stringify(STORED), SECRETS)).toEqual({ task: TASK }));

  test("reads absent members as not requested", () => {
    const { ids, request } = TASK;
    const { model, items } = request;
    const expected = { ids, reasoning: { rawAs: "text", isSealed: false }, inputTokensEstimate: 0 };
    expect(readTask(JSON.stringify({ ids, request: { model, items } }), SECRETS)).toEqual({
      task: {
        ...expected,
        speech: null,
        compaction: null,
        tools: null,
        interruption: null,
        request: { ...aRequest(), trace: null, model },
      },
    });
  });
});

test("a task of a later version is distinguished from an unreadable one", () => {
  expect(readTask(JSON.stringify({ ...STORED, version: TASK_VERSION + 1 }), SECRETS)).toEqual({ problem: "newer" });
  for (const json of [
    "",
    "null",
    "[]",
    '"text"',
    "{}",
    JSON.stringify({ ...STORED, version: "x" }),
    JSON.stringify({ ...STORED, version: TASK_VERSION, request: {} }),
    JSON.stringify({ ...STORED, ids: {} }),
    JSON.stringify({ ...STORED, request: { ...TASK.request, items: [7] } }),
    JSON.stringify({ ...STORED, speech: { format: 7 } }),
    JSON.stringify({ ...STORED, compaction: { type: "sometimes" } }),
  ])
    expect(readTask(json, SECRETS), json).toEqual({ problem: "unreadable" });
});

test("the secrets of tools are sealed, and items are stored once", async () => {
  const message: MessageItem = { id: "msg_1", type: "message", status: "completed", role: "user", content: [] };
  const tool = {
    type: "mcp",
    server_label: "a",
    server_url: "https://a.test/key-in-path",
    authorization: "very secret",
    headers: { "x-key": "also secret" },
  } as const;
  const task: RunTask = {
    ...TASK,
    request: { ...TASK.request, items: [message] },
    tools: { hosted: [{ kind: "mcp", tool }], include: [], callsMax: 3, context: [message], fitsWindow: false },
  };
  const json = await writeTask(task, SECRETS);
  for (const secret of ["very secret", "also secret", "key-in-path"]) expect(json).not.toContain(secret);
  expect(json.split('"msg_1"')).toHaveLength(2);
  expect(readTask(json, SECRETS)).toEqual({ task });
  const others = toolSecrets(
    createSealer(() => [new Uint8Array(32).fill(1)]),
    { organization: "o", project: "p" },
    "",
  );
  expect(readTask(json, others)).toEqual({ problem: "unreadable" });
});
