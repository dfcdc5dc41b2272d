import type { ModelGate } from "./model-gate.ts";

/** How turns are asked for again that failed. One for each model server. */
export interface ModelRetries {
  /** Of a background run. A foreground run has a part of it, and only after a tool has acted. */
  readonly budget: RetryBudget;
  readonly gate: ModelGate;
}

/** How often and for how long the model is asked again for a turn that failed. */
export interface RetryBudget {
  readonly failuresMax: number;
  /** From the first failure, in milliseconds. */
  readonly withinMs: number;
}
