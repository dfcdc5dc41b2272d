import type { ModelEngine } from "./models/model-engine.ts";
import { ModelError, NO_MODEL_LIST } from "./models/model-error.ts";

export type PartState = "ok" | "unavailable" | "unknown";

const FRESH_MS = 15_000;
const LOOK_TIMEOUT_MS = 5_000;

/** The last known state of a service that this server uses. Reading it never waits. */
export class PartHealth {
  readonly #answers: (signal: AbortSignal) => Promise<boolean>;
  #state: PartState = "unknown";
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  /** `answers` checks whether the service works. A rejection means that it does not. */
  constructor(answers: (signal: AbortSignal) => Promise<boolean>) {
    this.#answers = answers;
  }

  /** The last known state. Starts a new check in the background if the state is older than `FRESH_MS`. */
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

type Listing = Pick<ModelEngine, "listModels">;

/** The state of the model servers: whether one of them answers. A server without a list of models counts as healthy. */
export function modelHealth(engines: () => readonly Listing[]): PartHealth {
  return new PartHealth(async (signal) => {
    const answers = await Promise.all(engines().map((engine) => answersAtAll(engine, signal)));
    return answers.includes(true);
  });
}

async function answersAtAll(engine: Listing, signal: AbortSignal): Promise<boolean> {
  try {
    await engine.listModels(signal);
    return true;
  } catch (error) {
    return error instanceof ModelError && error.code === NO_MODEL_LIST;
  }
}
