import type { TraceContext } from "@antiphon/base/trace-context.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { FaceName } from "@antiphon/domain/faces.ts";

/** An incident of a run, besides its answer. */
export type RunIncident =
  /** Its worker died, was stopped, or could not reach the store. */
  | { readonly type: "interrupted"; readonly by: "crash" | "handover" | "store" }
  /** Its model failed and is retried after a pause. `error`: the model's message, for people. */
  | { readonly type: "waited"; readonly pauseMs: number; readonly error: string }
  /** `how`: an item continues after the shown text, or ended as incomplete and is replaced by a new one. */
  | { readonly type: "continued"; readonly how: "same_item" | "new_item" }
  /** The number of functions that are found only by a search, because the window of its model is small. */
  | { readonly type: "held_back"; readonly functions: number };

/** A run as telemetry sees it. */
export interface WatchedRun {
  readonly responseId: string;
  /** The id of its request; null if another worker received it. */
  readonly requestId: string | null;
  /** The model that the request named. */
  readonly model: string;
  readonly isBackground: boolean;
  /** The face by which it was asked for; null for the Responses API. */
  readonly face: FaceName | null;
  readonly trace: TraceContext | null;
}

/**
 * Observes one run for metrics, traces and logs. No method may throw. `countEvents` is called for every batch and must
 * be cheap.
 */
export interface RunWatch {
  /** The trace of all calls that the run makes. */
  readonly trace: TraceContext | null;
  /** The model is called now; a queued run has left the queue. */
  began(): void;
  /** One batch of the model became this many wire events. */
  countEvents(events: number): void;
  /** The model failed, or another fault ended the run. */
  noteFailure(fault: unknown): void;
  /** The run has ended here. `response` is its final snapshot. */
  noteEnd(response: Response): void;
  /** The request was refused before anything was shown, so there is no run. */
  noteRefusal(reason: unknown): void;
  /** This worker no longer makes the run: another worker took it, or it was deleted. */
  noteLeave(): void;
  noteIncident(incident: RunIncident): void;
}

/** Called once for every run. */
export interface RunObserver {
  watch(run: WatchedRun): RunWatch;
}
