import { type ModelEngine, ModelError, NO_MODEL_LIST } from "../../runs/ports.ts";

export type ModelState = "ok" | "unavailable" | "unknown";

const FRESH_MS = 15_000;
const LOOK_TIMEOUT_MS = 5_000;

/** The last known state of the model server. Reading it never waits for the server. */
export class ModelHealth {
  readonly #engine: Pick<ModelEngine, "listModels">;
  #state: ModelState = "unknown";
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  constructor(engine: Pick<ModelEngine, "listModels">) {
    this.#engine = engine;
  }

  /** The last known state. Starts a new check in the background if it is older than `FRESH_MS`. */
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
