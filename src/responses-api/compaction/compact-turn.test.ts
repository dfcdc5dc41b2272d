import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { SAMPLE_ITEMS } from "@antiphon/domain/models/hosted-items.fixture.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { beginAtCompaction } from "./begin-at-compaction.ts";
import { compactTurn, type TurnCompaction } from "./compact-turn.ts";
import { type CompactedContext, handleOf } from "./compacted-context.ts";

const usage = (inputTokens: number): Extract<ModelEvent, { type: "usage" }> => ({
  type: "usage",
  usage: { inputTokens, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 10, reasoningTokens: 0 },
});
const says = (text: string): ModelEvent => ({ type: "text_delta", text });
const calls = (callId: string | null): readonly ModelEvent[] => [
  { type: "call_started", kind: "function", callId, name: "f" },
  { type: "call_delta", text: "{}" },
  { type: "call_finished" },
];
const stops: ModelEvent = { type: "finished", reason: "stop" };

interface Played {
  readonly types: readonly string[];
  readonly sealed: readonly CompactedContext[];
  readonly summed: readonly number[];
  readonly faults: readonly unknown[];
}

async function play(
  batches: readonly (readonly ModelEvent[])[],
  changes: Partial<TurnCompaction> = {},
): Promise<Played> {
  const sealed: CompactedContext[] = [];
  const summed: number[] = [];
  const faults: unknown[] = [];
  const compaction: TurnCompaction = {
    seal: (context) => {
      sealed.push(context);
      return "sealed";
    },
    summarize: async (items) => {
      summed.push(items.length);
      return { text: "So far.", usage: null };
    },
    threshold: 100,
    inputTokensEstimate: 0,
    onFault: (fault) => faults.push(fault),
    signal: new AbortController().signal,
    ...changes,
  };
  const types: string[] = [];
  for await (const batch of compactTurn(turnOf(batches), compaction)) types.push(...batch.map(({ type }) => type));
  return { types, sealed, summed, faults };
}

async function* turnOf(batches: readonly (readonly ModelEvent[])[]): AsyncGenerator<readonly ModelEvent[]> {
  yield* batches;
}

test("the end of the turn waits for the compaction, the end of the message does not", async () => {
  const { types, sealed, summed } = await play([[says("Hi")], [usage(90), stops]]);
  expect(types).toEqual(["text_delta", "usage", "message_finished", "compaction", "finished"]);
  expect(sealed).toEqual([{ summary: "So far.", keeps: "nothing", calls: [] }]);
  expect(summed).toEqual([1]);
});

test("a turn is unchanged below the threshold, when it is cut short, and when it breaks off", async () => {
  expect((await play([[says("Hi"), usage(89), stops]])).types).toEqual(["text_delta", "usage", "finished"]);
  const cut: ModelEvent = { type: "finished", reason: "length" };
  expect((await play([[says("Hi"), usage(500), cut]])).types).toEqual(["text_delta", "usage", "finished"]);
  expect((await play([[says("Hi"), usage(500)]])).types).toEqual(["text_delta", "usage"]);
});

test("an answer of several turns counts with its last one, since each repeats the context", async () => {
  const counted = (contextTokens: number): ModelEvent => ({ ...usage(500), contextTokens });
  expect((await play([[says("Hi"), counted(99), stops]])).types).not.toContain("compaction");
  expect((await play([[says("Hi"), counted(100), stops]])).types).toContain("compaction");
});

test("without counts from the model server, estimates of input and answer decide", async () => {
  const long = says("x".repeat(200));
  expect((await play([[long, stops]], { inputTokensEstimate: 49 })).types).not.toContain("compaction");
  expect((await play([[long, stops]], { inputTokensEstimate: 50 })).types).toContain("compaction");
});

test("text that is also spoken counts once", async () => {
  const text = "x".repeat(200);
  const spoken: ModelEvent = { type: "audio_transcript_delta", text };
  expect((await play([[says(text), spoken, stops]], { inputTokensEstimate: 49 })).types).not.toContain("compaction");
  expect((await play([[says(text), spoken, stops]], { inputTokensEstimate: 50 })).types).toContain("compaction");
});

test("each open call is kept under a unique id", async () => {
  const { sealed, summed } = await play([
    [says("Hi"), ...calls("call_a"), ...calls("call_a"), ...calls(null), usage(90), stops],
  ]);
  const ids = sealed[0]?.calls.map(handleOf) ?? [];
  expect(ids).toEqual([
    "call_a",
    expect.stringMatching(/^call_[0-9a-f]{24}$/),
    expect.stringMatching(/^call_[0-9a-f]{24}$/),
  ]);
  expect(new Set(ids).size).toBe(3);
  expect(summed).toEqual([1]);
});

test("items of hosted tools are summed up, and what the client has to answer is kept", async () => {
  const approval = SAMPLE_ITEMS.mcp_approval_request("mcpr_1");
  const shown = [
    SAMPLE_ITEMS.web_search_call("ws_1"),
    SAMPLE_ITEMS.tool_search_call("tsc_1"),
    SAMPLE_ITEMS.tool_search_output("tso_1"),
    { ...SAMPLE_ITEMS.shell_call("sh_1"), last: { ...SAMPLE_ITEMS.shell_call("sh_1").last, call_id: "call_1" } },
    {
      ...SAMPLE_ITEMS.shell_call_output("sho_1"),
      last: { ...SAMPLE_ITEMS.shell_call_output("sho_1").last, call_id: "call_1" },
    },
    SAMPLE_ITEMS.computer_call("cu_1"),
    SAMPLE_ITEMS.local_shell_call("lsh_1"),
    approval,
  ].flatMap(({ first, last }): ModelEvent[] => [
    { type: "item_started", item: first },
    { type: "item_finished", item: last },
  ]);
  const { sealed, summed } = await play([[says("Hi"), ...shown, usage(90), stops]]);
  expect(sealed[0]?.calls.map(handleOf)).toEqual(["call_cu_1", "lsh_1", "mcpr_1"]);
  expect(summed).toEqual([6]);
  const after: readonly StoredItem[] = [
    { id: "cmp_1", type: "compaction", encrypted_content: "sealed" },
    { id: "mcpa_1", type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true, reason: null },
  ];
  const kept = beginAtCompaction(after, () => sealed[0] ?? { summary: "", keeps: "nothing", calls: [] });
  expect(kept.map(({ type }) => type)).toEqual(["message", "mcp_approval_request", "mcp_approval_response"]);
  expect(kept[1]).toEqual(approval.last);
});

test("a failed summary is reported, unless the client has left", async () => {
  verifies("create.compaction.failure-keeps-answer");
  const fault = new Error("no summary");
  const summarize = (): Promise<never> => Promise.reject(fault);
  const failed = await play([[says("Hi"), usage(90), stops]], { summarize });
  expect(failed.types).toEqual(["text_delta", "usage", "message_finished", "finished"]);
  expect(failed.faults).toEqual([fault]);
  const left = await play([[says("Hi"), usage(90), stops]], { summarize, signal: AbortSignal.abort() });
  expect(left.faults).toEqual([]);
});
