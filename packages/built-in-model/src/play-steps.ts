import { setImmediate as letOthersRun } from "node:timers/promises";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { isDelta, type Step } from "./step.ts";

/** Events per batch if there is no delay. The event loop gets a turn after each batch. */
const BATCH_EVENTS_MAX = 32;

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
