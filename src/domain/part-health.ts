import type { ModelEngine } from "../runs/ports/model-engine.ts";
import { ModelError, NO_MODEL_LIST } from "../runs/ports/model-error.ts";

export type PartState = "ok" | "unavailable" | "unknown";

const FRESH_MS = 15_000;
const LOOK_TIMEOUT_MS = 5_000;

/** The last known state of something that this server uses. Reading it never waits. */
export class PartHealth {
  readonly #answers: (signal: AbortSignal) => Promise<boolean>;
  #state: PartState = "unknown";
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  /** `answers`: looks whether it can be used. A rejection means that it cannot. */
  constructor(answers: (signal: AbortSignal) => Promise<boolean>) {
    this.#answers = answers;
  }

  /** The last known state. Starts a new look in the background if that is older than `FRESH_MS`. */
  look(): PartState {
    if (!this.#isLooking && performance.now() - this.#lookedAt >= FRESH_MS) void this.#lookAgain();
    return this.#state;
  }

  async #lookAgain(): Promise<void> {
    this.#isLooking = true;
    const isWell = await this.#answers(AbortSignal.timeout(LOOK_TIMEOUT_MS)).catch(() => false);
    this.#state = isWell ? "ok" : "unavailable";
    this.#lookedAt = performance.now();
    this.#isLooking = false;
  }
}

/** The state of the model server. One without a list of models is well. */
export function modelHealth(engine: Pick<ModelEngine, "listModels">): PartHealth {
  return new PartHealth(async (signal) => {
    try {
      await engine.listModels(signal);
      return true;
    } catch (error) {
      return error instanceof ModelError && error.code === NO_MODEL_LIST;
    }
  });
}
