import { isRecord } from "@antiphon/base/json/records.ts";
import { expected, integer, NAME } from "@antiphon/base/yaml/file-values.ts";
import type { Annotation, LogProb } from "@antiphon/contracts/responses-api/types.ts";
import { validateAnnotation, validateLogProb } from "@antiphon/contracts/responses-api/validators.js";
import { z } from "zod";
import { utf8 } from "../step.ts";

const CALL_ID = NAME.nullable().default(null);

export const COUNT = integer(0).default(0);
export const PHASE = z.enum(["commentary", "final_answer"]);
export const ANNOTATION = z.custom<Annotation>(validateAnnotation, { error: expected("an annotation as on the wire") });

const MODEL_USAGE = z.strictObject({
  inputTokens: COUNT,
  cachedTokens: COUNT,
  cacheWriteTokens: COUNT,
  outputTokens: COUNT,
  reasoningTokens: COUNT,
});

/** `bytes` and `top_logprobs` may be left out. */
const LOGPROB = z.preprocess(
  (token) => (isRecord(token) ? { bytes: utf8(String(token["token"])), top_logprobs: [], ...token } : token),
  z.custom<LogProb>(validateLogProb, { error: expected("a token with its log probability") }),
);

/** `ModelEvent`s, with the members of their type. */
export const MODEL_EVENT = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("model_resolved"), model: NAME }),
  z.strictObject({ type: z.literal("message_started"), phase: PHASE.exactOptional() }),
  z.strictObject({ type: z.literal("text_delta"), text: z.string(), logprobs: z.array(LOGPROB).exactOptional() }),
  z.strictObject({ type: z.literal("annotation"), annotation: ANNOTATION }),
  z.strictObject({
    type: z.literal(["refusal_delta", "reasoning_delta", "reasoning_summary_delta", "call_delta"]),
    text: z.string(),
  }),
  z.strictObject({ type: z.literal(["message_finished", "reasoning_summary_break", "call_finished"]) }),
  z.strictObject({
    type: z.literal("call_started"),
    kind: z.enum(["function", "custom", "hosted"]),
    callId: CALL_ID,
    name: NAME,
    namespace: NAME.exactOptional(),
  }),
  z.strictObject({ type: z.literal("tool_search"), callId: CALL_ID, arguments: z.record(z.string(), z.unknown()) }),
  z.strictObject({ type: z.literal("usage"), usage: MODEL_USAGE }),
  z.strictObject({ type: z.literal("finished"), reason: z.enum(["stop", "length", "content_filter"]) }),
]);
