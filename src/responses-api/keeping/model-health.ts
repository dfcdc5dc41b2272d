import { type ModelEngine, ModelError, NO_MODEL_LIST } from "../../runs/ports.ts";

export type ModelState = "ok" | "unavailable" | "unknown";

const FRESH_MS = 15_000;
const LOOK_TIMEOUT_MS = 5_000;

/** Whether the model server answers, as it was seen last. Looking never waits for it. */
export class ModelHealth {
  readonly #engine: Pick<ModelEngine, "listModels">;
  #state: ModelState = "unknown";
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  constructor(engine: Pick<ModelEngine, "listModels">) {
    this.#engine = engine;
  }

  /** What was seen last; has a new look taken if that was a while ago. */
  look(): ModelState {
    if (!this.#isLooking && performance.now() - this.#lookedAt >= FRESH_MS) void this.#lookAgain();
    return this.#state;
  }

  async #lookAgain(): Promise<void> {
    this.#isLooking = true;
    try {
      await this.#engine.listModels(AbortSignal.timeout(LOOK_TIMEOUT_MS));
      this.#state = "ok";
    } catch (error) {
      this.#state = error instanceof ModelError && error.code === NO_MODEL_LIST ? "ok" : "unavailable";
    }
    this.#lookedAt = performance.now();
    this.#isLooking = false;
  }
}
