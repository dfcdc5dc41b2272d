import { choiceOf, expected, integer, manyOf, mapping, NAME, RECORD, TEXT } from "@antiphon/base/yaml/file-values.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { z } from "zod";
import type { Failure, Pause } from "../step.ts";
import { splitTokens } from "../tokens.ts";
import { ANNOTATION, MODEL_EVENT, PHASE, USAGE } from "./model-events.ts";

/**
 * What one event of the file plays. Texts become deltas when played, because the request says whether log probabilities
 * are included.
 */
export type ScenarioEvent =
  | { readonly type: "text"; readonly pieces: readonly string[] }
  /** The answer stops without a finish reason. */
  | { readonly type: "break_off" }
  | ModelEvent
  | Pause
  | Failure;

/** Ten minutes. Also keeps the delay far below the limit of JavaScript timers. */
const DELAY_MS_MAX = 600_000;
const CHUNKS_MAX = 10_000;

/** By default a server error with status 500. */
const ERROR = mapping({
  status: integer(400, 599).nullish(),
  type: NAME.nullish(),
  code: NAME.nullish(),
  message: NAME,
  param: NAME.nullish(),
  retry_after_seconds: integer(0).nullish(),
}).transform(
  ({ status, type, code = "server_error", message, param = null, retry_after_seconds = null }) =>
    new ModelError(message, {
      status: status ?? 500,
      type: type ?? "server_error",
      code,
      param,
      retryAfterSeconds: retry_after_seconds,
    }),
);

/** A text by its tokens; `{chunks: […]}` gives the pieces unchanged. */
const PIECES = z.union(
  [TEXT.transform((text) => splitTokens(text)), mapping({ chunks: manyOf(TEXT) }).transform(({ chunks }) => chunks)],
  { error: expected("a text or {chunks: […]}") },
);

const SUMMARY = manyOf(TEXT).transform((parts) =>
  parts.flatMap((part, index): ScenarioEvent[] => [
    ...(index === 0 ? [] : [{ type: "reasoning_summary_break" } as const]),
    ...splitTokens(part).map((text) => ({ type: "reasoning_summary_delta", text }) as const),
  ]),
);

const CALL = {
  name: NAME,
  namespace: NAME.nullish(),
  call_id: NAME.nullish(),
  chunks: integer(1, CHUNKS_MAX).nullish(),
};
const START = mapping({ phase: PHASE.exactOptional() });
const FINISH = choiceOf(["stop", "length", "content_filter", "none"]);
const BREAK = [{ type: "break_off" } as const];
/** A mapping becomes JSON; a text is used unchanged, so that a scenario can send invalid JSON. */
const ARGUMENTS = z.union([TEXT, RECORD.transform((members) => JSON.stringify(members))], {
  error: expected("a mapping or a text"),
});

/** The start of a call, its arguments or input in pieces, and its end. */
function callEvents(
  kind: "function" | "custom",
  { name, namespace, call_id = null, chunks }: z.infer<z.ZodObject<typeof CALL>>,
  input: string,
): ScenarioEvent[] {
  const pieces = chunks === null || chunks === undefined ? splitTokens(input) : cutEvenly(input, chunks);
  return [
    { type: "call_started", kind, callId: call_id, name, ...(typeof namespace === "string" ? { namespace } : {}) },
    ...pieces.map((text) => ({ type: "call_delta", text }) as const),
    { type: "call_finished" },
  ];
}

/** Cuts into `count` pieces, or fewer if the text is too short. */
function cutEvenly(text: string, count: number): string[] {
  const characters = [...text];
  const cutAt = (index: number): number => Math.round((index * characters.length) / count);
  const pieces = Array.from({ length: count }, (_, index) => characters.slice(cutAt(index), cutAt(index + 1)).join(""));
  return pieces.filter((piece) => piece !== "");
}

const KINDS = mapping({
  text: PIECES.transform((pieces) => [{ type: "text", pieces } as const]),
  refusal: PIECES.transform((pieces) => pieces.map((text) => ({ type: "refusal_delta", text }) as const)),
  reasoning: PIECES.transform((pieces) => pieces.map((text) => ({ type: "reasoning_delta", text }) as const)),
  reasoning_summary: SUMMARY,
  call: mapping({ ...CALL, arguments: ARGUMENTS.nullish() }).transform((call) =>
    callEvents("function", call, call.arguments ?? "{}"),
  ),
  custom_call: mapping({ ...CALL, input: TEXT }).transform((call) => callEvents("custom", call, call.input)),
  message: START.nullable().transform((message) => [{ type: "message_started", ...message } as const]),
  annotation: ANNOTATION.transform((annotation) => [{ type: "annotation", annotation } as const]),
  usage: USAGE.transform((usage) => [{ type: "usage", usage } as const]),
  finish: FINISH.transform((reason) => (reason === "none" ? BREAK : [{ type: "finished", reason } as const])),
  delay_ms: integer(0, DELAY_MS_MAX).transform((ms) => [{ type: "pause", ms } as const]),
  error: ERROR.transform((error) => [{ type: "failure", error } as const]),
  raw: MODEL_EVENT.transform((event) => [event]),
  refuse_turn: ERROR,
});

/** An element of `events`: what it plays, or the error that refuses the turn. */
export const SCENARIO_EVENT = KINDS.partial().transform((event, context) => {
  const [first, ...others] = Object.values(event);
  if (first !== undefined && others.length === 0) return first;
  const kinds = Object.keys(KINDS.shape).filter((kind) => kind !== "refuse_turn");
  context.addIssue(`should have exactly one of these keys: ${kinds.join(", ")}`);
  return z.NEVER;
});
