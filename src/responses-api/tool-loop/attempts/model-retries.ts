import type { ModelGate } from "./model-gate.ts";

/** How failed turns are retried. One per model server. */
export interface ModelRetries {
  /** For a background run. A foreground run has a part of it, and only after a tool has acted. */
  readonly budget: RetryBudget;
  readonly gate: ModelGate;
}

/** The limits of retries of a failed turn. */
export interface RetryBudget {
  readonly failuresMax: number;
  /** From the first failure, in milliseconds. */
  readonly withinMs: number;
}
