import fc from "fast-check";
import type { Annotation, LogProb } from "../../generated/responses-api/types.ts";
import type { Phase } from "./blocks/message-block.ts";
import type { ModelEvent } from "./ports.ts";
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

/** Any signal that a run can get after its model has accepted. */
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
    fc.record({ type: only("finished"), reason: fc.constantFrom<FinishReason[]>("stop", "length", "content_filter") }),
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

function only<const T extends string>(value: T): fc.Arbitrary<T> {
  return fc.constant(value);
}
