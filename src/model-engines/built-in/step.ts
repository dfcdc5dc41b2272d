import type { ModelError } from "../../runs/ports/model-error.ts";
import type { ModelEvent } from "../../runs/ports/model-events.ts";

/**
 * What the engine does next: emit an event, wait, or fail. Both the rules and scenario files produce a list of steps.
 */
export type Step = ModelEvent | Pause | Failure;

export interface Pause {
  readonly type: "pause";
  readonly ms: number;
}

export interface Failure {
  readonly type: "failure";
  readonly error: ModelError;
}

export type DeltaEvent = Extract<ModelEvent, { text: string }>;

/** Each delta is one token for limits, delays and usage. */
export function isDelta(step: Step): step is DeltaEvent {
  return "text" in step;
}
