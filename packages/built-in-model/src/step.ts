import { setImmediate as letOthersRun } from "node:timers/promises";
import type { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

/**
 * What the engine does next: emit an event, wait, or fail. Both the rules and scenario files produce a list of steps.
 */
export type Step =
  | ModelEvent
  | { readonly type: "pause"; readonly ms: number }
  | { readonly type: "failure"; readonly error: ModelError };

type DeltaEvent = Extract<ModelEvent, { text: string }>;
type CallStarted = Extract<ModelEvent, { type: "call_started" }>;

/** Events per batch if there is no delay. The event loop gets a turn after each batch. */
const BATCH_EVENTS_MAX = 32;
const CHOSEN_LOGPROB = -0.1;
/** Each alternative is less likely than the one before. All probabilities sum to less than 1. */
const ALTERNATIVE_LOGPROB = -2.4;
const ALTERNATIVE_STEP = -0.7;
const OTHER_TOKENS =
  " the, a, and, of, to, in, is, it, that, for, on, with, as, was, at, by, an, be, this, or, from, are".split(",");

/** Each delta is one token for limits, delays and usage. */
export function isDelta(step: Step): step is DeltaEvent {
  return "text" in step;
}

export function deltasOf(type: Exclude<DeltaEvent["type"], "text_delta">, tokens: readonly string[]): ModelEvent[] {
  return tokens.map((text) => ({ type, text }));
}

/** A call with its arguments or its input in pieces. */
export function callSteps(
  { namespace, ...call }: Omit<CallStarted, "type" | "namespace"> & { readonly namespace: string | null },
  pieces: readonly string[],
): ModelEvent[] {
  return [
    { type: "call_started", ...call, ...(namespace === null ? {} : { namespace }) },
    ...deltasOf("call_delta", pieces),
    { type: "call_finished" },
  ];
}

/**
 * One token of the text. `topLogprobs` null means no log probabilities. They are made up, and always the same; the
 * chosen token is the first of the alternatives.
 */
export function textDelta(token: string, topLogprobs: number | null): ModelEvent {
  if (topLogprobs === null) return { type: "text_delta", text: token };
  const ranked = [token, ...OTHER_TOKENS.filter((other) => other !== token)].slice(0, topLogprobs).map((one, rank) => ({
    token: one,
    logprob: rank === 0 ? CHOSEN_LOGPROB : Math.round((ALTERNATIVE_LOGPROB + rank * ALTERNATIVE_STEP) * 10) / 10,
    bytes: utf8(one),
  }));
  const logprobs = [{ token, bytes: utf8(token), logprob: CHOSEN_LOGPROB, top_logprobs: ranked }];
  return { type: "text_delta", text: token, logprobs };
}

export function utf8(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}

/**
 * Yields the events of the steps, with `tokenDelayMs` between tokens. Ends early, without an error, when `signal`
 * aborts. A failure step is thrown.
 */
export async function* playSteps(
  steps: readonly Step[],
  tokenDelayMs: number,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[], void, undefined> {
  let batch: ModelEvent[] = [];
  let spoke = false;
  for (const step of steps) {
    const delayMs = step.type === "pause" ? step.ms : spoke && isDelta(step) ? tokenDelayMs : 0;
    const batchEnds = delayMs > 0 || step.type === "failure" || batch.length === BATCH_EVENTS_MAX;
    if (batchEnds && batch.length > 0) {
      yield batch;
      batch = [];
      await letOthersRun();
    }
    if (delayMs > 0 && !signal.aborted) await sleep(delayMs, signal);
    if (signal.aborted) return;
    if (step.type === "failure") throw step.error;
    if (step.type !== "pause") batch.push(step);
    spoke ||= isDelta(step);
  }
  if (batch.length > 0) yield batch;
}

/** Resolves after the time or on abort, whichever is first. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const timer = setTimeout(wake, ms);
  signal.addEventListener("abort", wake);
  await promise;
  signal.removeEventListener("abort", wake);
  clearTimeout(timer);
}
