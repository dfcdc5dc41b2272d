import type { Annotation, LogProb } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedItemEvent, ToolStep } from "@antiphon/domain/models/hosted.ts";
import { SAMPLE_ITEMS } from "@antiphon/domain/models/hosted-items.fixture.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import fc from "fast-check";
import type { Phase } from "./blocks/message-block.ts";
import type { FinishReason, RunSignal } from "./run-state.ts";

/** Model events without varying members. */
const UNCHANGING: readonly ModelEvent[] = [
  { type: "reasoning_summary_break" },
  { type: "call_finished" },
  { type: "message_finished" },
  { type: "compaction", encryptedContent: "sealed" },
  { type: "tool_search", callId: "call_a", arguments: { query: "files" } },
  { type: "audio_delta", audio: "AAAA" },
  { type: "audio_done" },
];

const FINISH_REASONS: readonly FinishReason[] = ["stop", "length", "content_filter", "steered"];

/** Any signal for a run whose model has accepted. */
export function anySignal(): fc.Arbitrary<RunSignal> {
  const text = fc.string({ maxLength: 12 });
  const logprob = fc.record({
    token: text,
    logprob: fc.constant<number>(-0.5),
    bytes: fc.constant<number[]>([65]),
    top_logprobs: fc.constant<LogProb["top_logprobs"]>([]),
  });
  const events: fc.Arbitrary<ModelEvent>[] = [
    ...UNCHANGING.map((event) => fc.constant(event)),
    fc.record({ type: only("text_delta"), text }),
    fc.record({ type: only("text_delta"), text, logprobs: fc.array(logprob, { maxLength: 2 }) }),
    fc.record({ type: only("refusal_delta"), text }),
    fc.record({ type: only("reasoning_delta"), text }),
    fc.record({ type: only("reasoning_summary_delta"), text }),
    fc.record({ type: only("reasoning_sealed"), sealedText: text }),
    fc.record({ type: only("message_started"), phase: fc.constantFrom<Phase[]>("commentary", "final_answer") }),
    fc.record({
      type: only("call_started"),
      kind: fc.constantFrom<("function" | "custom")[]>("function", "custom"),
      callId: fc.constantFrom<(string | null)[]>("call_a", "call_b", "", null),
      name: fc.constantFrom("look_up", "run"),
    }),
    fc.record({ type: only("call_delta"), text }),
    fc.record({ type: only("audio_transcript_delta"), text }),
    fc.record({
      type: only("annotation"),
      annotation: fc.constant<Annotation>({
        type: "url_citation",
        start_index: 0,
        end_index: 1,
        title: "t",
        url: "https://example.com",
      }),
    }),
    fc.constant<ModelEvent>({
      type: "usage",
      usage: { inputTokens: 5, cachedTokens: 1, cacheWriteTokens: 0, outputTokens: 7, reasoningTokens: 2 },
    }),
    fc.record({ type: only("finished"), reason: fc.constantFrom(...FINISH_REASONS) }),
  ];
  const failure = {
    type: "server_error",
    code: "server_error",
    message: "gone",
    param: null,
    responseCode: "server_error" as const,
  };
  return fc.oneof(
    { weight: 40, arbitrary: fc.oneof(...events).map((heard): RunSignal => ({ type: "model", event: heard })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<RunSignal>(
        { type: "model_ended", at: 1_800_000_005 },
        { type: "cancelled" },
        { type: "model_failed", failure },
      ),
    },
  );
}

/** Signals in any order, among them items of hosted tools, which other signals may interrupt. */
export function anySignals(lengthMax: number): fc.Arbitrary<readonly RunSignal[]> {
  const one = anySignal().map((signal) => [signal]);
  return fc
    .array(fc.oneof({ weight: 4, arbitrary: one }, { weight: 1, arbitrary: anyHostedItem(one) }), {
      maxLength: lengthMax,
    })
    .map((parts) => parts.flat());
}

export const PARTIAL_IMAGE: ToolStep = {
  type: "partial_image",
  background: "auto",
  output_format: "png",
  partial_image_b64: "AA",
  partial_image_index: 0,
  quality: "low",
  size: "auto",
};

const STEPS: readonly ToolStep[] = [
  { type: "searching" },
  { type: "interpreting" },
  { type: "generating" },
  PARTIAL_IMAGE,
  { type: "command_printed", stdout: "a", stderr: "" },
  { type: "command_ended", output: { stdout: "ab", stderr: "c", outcome: { type: "exit", exit_code: 0 } } },
];

/** A hosted item from its first to its last form, or left open. Its texts are arbitrary and may not fit. */
function anyHostedItem(interruption: fc.Arbitrary<readonly RunSignal[]>): fc.Arbitrary<readonly RunSignal[]> {
  const hears = (event: HostedItemEvent): readonly RunSignal[] => [{ type: "model", event }];
  const inside = fc.array(
    fc.oneof(
      fc.string({ maxLength: 6 }).map((text) => hears({ type: "item_delta", text })),
      fc.constant(hears({ type: "item_written" })),
      fc.constantFrom(...STEPS).map((step) => hears({ type: "item_step", step })),
      interruption,
    ),
    { maxLength: 5 },
  );
  const items = Object.values(SAMPLE_ITEMS);
  return fc
    .tuple(fc.integer({ min: 0, max: items.length - 1 }), fc.uuid(), inside, fc.boolean())
    .map(([index, id, told, finishes]) => {
      const sample = items[index]?.(`it_${id}`);
      if (sample === undefined) return [];
      const { first, last } = sample;
      return [
        ...hears({ type: "item_started", item: first }),
        ...told.flat(),
        ...(finishes ? hears({ type: "item_finished", item: last }) : []),
      ];
    });
}

function only<const T extends string>(value: T): fc.Arbitrary<T> {
  return fc.constant(value);
}

/** Ends a run that has not ended. Few generated runs end by themselves. */
export const END_OF_RUN: readonly RunSignal[] = [
  { type: "model", event: { type: "finished", reason: "stop" } },
  { type: "model_ended", at: 1 },
];
