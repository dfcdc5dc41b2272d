import { timeoutFailure } from "./run-failures.ts";
import type { RunSignal } from "./run-state.ts";

/** Why a run is stopped from outside: the reason with which its signal aborts. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";
  /** How the run ends; null: not here, another worker takes it up. */
  readonly signal: RunSignal | null;

  private constructor(message: string, signal: RunSignal | null) {
    super(message);
    this.signal = signal;
  }

  static cancelled(): RunStopped {
    return new RunStopped("the response was cancelled", { type: "cancelled" });
  }

  static timedOut(runMs: number): RunStopped {
    return new RunStopped("the response took too long", { type: "model_failed", failure: timeoutFailure(runMs) });
  }

  static released(): RunStopped {
    return new RunStopped("the response is left to another worker", null);
  }
}
