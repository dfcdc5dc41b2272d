import { tooManyRuns } from "./errors/server-errors.ts";

/** The place of one run among those that are running. */
export interface RunSlot {
  /** Aborts when the run's client leaves, or when the run is cancelled by id. */
  readonly signal: AbortSignal;
  /** Keeps the place until the run has ended. */
  follow(ended: Promise<void>): void;
  release(): void;
}

/** The runs of this process, by response id: how many may run, and how to stop one. */
export class RunRegistry {
  readonly #running = new Map<string, { readonly controller: AbortController; ended: Promise<void> }>();
  readonly #runsMax: number;

  constructor(runsMax: number) {
    this.#runsMax = runsMax;
  }

  reserve(responseId: string, clientSignal: AbortSignal): RunSlot {
    if (this.#running.size >= this.#runsMax) throw tooManyRuns(this.#runsMax);
    const controller = new AbortController();
    const run = { controller, ended: Promise.resolve() };
    this.#running.set(responseId, run);
    const release = (): void => {
      this.#running.delete(responseId);
    };
    return {
      signal: AbortSignal.any([clientSignal, controller.signal]),
      follow: (ended) => {
        run.ended = ended.finally(release);
      },
      release,
    };
  }

  /** Resolves once no run is left. */
  async idle(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  /** Stops a run if it is running here; resolves once it has ended. */
  async stop(responseId: string): Promise<void> {
    const run = this.#running.get(responseId);
    run?.controller.abort();
    await run?.ended;
  }
}
