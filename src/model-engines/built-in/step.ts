import type { ModelError, ModelEvent } from "../../runs/ports.ts";

/** What the engine does next: say something, wait, or break off. Planner and scenarios both end in a list of these. */
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

/** Each delta is one token: that is what limits, delays and usage count. */
export function isDelta(step: Step): step is DeltaEvent {
  return "text" in step;
}
