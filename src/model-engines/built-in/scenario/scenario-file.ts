import type { ModelError } from "../../../runs/ports/model-error.ts";
import type { ModelEvent } from "../../../runs/ports/model-events.ts";
import type { Failure, Pause } from "../step.ts";

/** The checked content of a scenario file. */
export interface ScenarioFile {
  /** Model names that the engine accepts besides its own. */
  readonly models: readonly string[];
  /** What answers a request that fits no scenario: the built-in rules or an error. */
  readonly fallback: "planner" | "error";
  readonly scenarios: readonly Scenario[];
}

export interface Scenario {
  readonly when: Conditions;
  readonly script: Script;
}

/** A refused turn fails before it begins, with an HTTP error; any other is played. */
export type Script =
  | { readonly type: "refused"; readonly error: ModelError }
  | { readonly type: "played"; readonly events: readonly ScenarioEvent[] };

/** A null condition always holds. */
export interface Conditions {
  readonly inputContains: string | null;
  /** Text in any user or developer message. */
  readonly contextContains: string | null;
  /** The number of user messages in the context. */
  readonly turn: number | null;
  readonly model: string | null;
  readonly hasToolOutput: boolean | null;
  /** The number of tool outputs after the last user or assistant message. */
  readonly toolOutputs: number | null;
}

/**
 * One event of the file. Texts become deltas when played, because the request says whether log probabilities are
 * included.
 */
export type ScenarioEvent =
  | { readonly type: "text"; readonly pieces: readonly string[] }
  | { readonly type: "event"; readonly event: ModelEvent }
  /** The answer stops without a finish reason. */
  | { readonly type: "break_off" }
  | Pause
  | Failure;
