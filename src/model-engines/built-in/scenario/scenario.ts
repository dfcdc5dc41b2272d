import type { ModelError, ModelEvent } from "../../../runs/ports.ts";
import type { Failure, Pause } from "../step.ts";

/** A scenario file, read and checked. */
export interface Scenario {
  /** Names that the engine accepts beside its own. */
  readonly models: readonly string[];
  /** Who answers a request that no scene fits. */
  readonly fallback: "planner" | "error";
  readonly scenes: readonly Scene[];
}

export interface Scene {
  readonly when: Conditions;
  readonly script: Script;
}

/** A refused turn is answered before it begins, as HTTP shows errors. */
export type Script =
  | { readonly type: "refused"; readonly error: ModelError }
  | { readonly type: "played"; readonly lines: readonly Line[] };

/** Null where a scene does not care. */
export interface Conditions {
  readonly inputContains: string | null;
  /** Said in any message of users or developers. */
  readonly contextContains: string | null;
  /** How many user messages the context holds. */
  readonly turn: number | null;
  readonly model: string | null;
  readonly hasToolOutput: boolean | null;
  /** How many tools returned something since the user or the model last spoke. */
  readonly toolOutputs: number | null;
}

/** One event of the file. Texts become deltas only when played, because the request decides on log probabilities. */
export type Line =
  | { readonly type: "text"; readonly pieces: readonly string[] }
  | { readonly type: "event"; readonly event: ModelEvent }
  /** The answer stops without having finished. */
  | { readonly type: "break_off" }
  | Pause
  | Failure;
