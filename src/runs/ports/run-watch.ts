import type { Response } from "../../../generated/responses-api/types.ts";
import type { TraceContext } from "../../base/trace-context.ts";

/** Something that happened to a run while it was made, besides its answer. */
export type RunHappening =
  /** Its worker died, was stopped, or could not reach the store. */
  | { readonly type: "interrupted"; readonly by: "crash" | "handover" | "store" }
  /** Its model failed, and is asked again after a pause. `error`: what it said, for people. */
  | { readonly type: "waited"; readonly pauseMs: number; readonly error: string }
  /** `how`: an item goes on after the text that was shown, or ended as incomplete, and another one says it anew. */
  | { readonly type: "continued"; readonly how: "same_item" | "new_item" }
  /** So many functions of its tools are found by a search, because the window of its model is small. */
  | { readonly type: "held_back"; readonly functions: number };

/** A run as telemetry sees it. */
export interface WatchedRun {
  readonly responseId: string;
  /** The id of the request that began it; null if another worker took that request. */
  readonly requestId: string | null;
  /** The model that the request named. */
  readonly model: string;
  readonly isBackground: boolean;
  readonly trace: TraceContext | null;
}

/**
 * Follows one run for metrics, traces and logs. No method may throw. `said` is called for every batch and must be
 * cheap.
 */
export interface RunWatch {
  /** The trace of all calls that the run makes. */
  readonly trace: TraceContext | null;
  /** The model is asked now; a queued run has left the queue. */
  began(): void;
  /** This many wire events were made from one batch of the model. */
  said(events: number): void;
  /** The model failed, or another fault ended the run. */
  failed(fault: unknown): void;
  /** The run has ended here. `response` is its final snapshot. */
  ended(response: Response): void;
  /** The request was refused before anything was shown, so there is no run. */
  refused(reason: unknown): void;
  /** This worker no longer makes the run: another one took it, or it was deleted. */
  left(): void;
  happened(happening: RunHappening): void;
}

/** Called once for every run. */
export interface RunObserver {
  watch(run: WatchedRun): RunWatch;
}
