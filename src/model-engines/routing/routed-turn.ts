import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

type Batch = readonly ModelEvent[];
type Step = IteratorResult<Batch, undefined>;

export interface TurnListener {
  /** The first events came. */
  readonly onFirst: () => void;
  readonly onFailed: (error: unknown) => void;
  /** Called once, when the turn has ended, failed or was left. */
  readonly onOver: () => void;
}

/**
 * A turn whose beginning and end are told. Not a generator, because `return()` must stop the turn at once, even while a
 * batch is awaited.
 */
export class RoutedTurn implements AsyncIterableIterator<Batch, undefined> {
  readonly #turn: AsyncIterator<Batch>;
  readonly #listener: TurnListener;
  /** The name that the answer shows as its model; null for the server's own. */
  #shownModel: string | null;
  /** Events that were read before the turn was handed on. */
  #first: Step | null = null;
  #hasBegun = false;
  #isOver = false;

  constructor(turn: AsyncIterable<Batch>, shownModel: string | null, listener: TurnListener) {
    this.#turn = turn[Symbol.asyncIterator]();
    this.#shownModel = shownModel;
    this.#listener = listener;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Waits for the first events, which `next` then returns. */
  async begin(): Promise<void> {
    this.#first = await this.next();
  }

  next(): Promise<Step> {
    const first = this.#first;
    if (first !== null) {
      this.#first = null;
      return Promise.resolve(first);
    }
    return this.#turn.next().then(this.#onStep, this.#onFault);
  }

  async return(): Promise<Step> {
    this.#end();
    await this.#turn.return?.();
    return { done: true, value: undefined };
  }

  readonly #onStep = (step: IteratorResult<Batch>): Step => {
    if (step.done === true) {
      this.#end();
      return { done: true, value: undefined };
    }
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#listener.onFirst();
    }
    return this.#shownModel === null ? { done: false, value: step.value } : this.#renamed(step.value);
  };

  readonly #onFault = (error: unknown): never => {
    this.#listener.onFailed(error);
    this.#end();
    throw error;
  };

  /** The server tells its model once. */
  #renamed(batch: Batch): Step {
    const model = this.#shownModel;
    const place = batch.findIndex(({ type }) => type === "model_resolved");
    if (place === -1 || model === null) return { done: false, value: batch };
    this.#shownModel = null;
    return {
      done: false,
      value: batch.map((event) => (event.type === "model_resolved" ? { ...event, model } : event)),
    };
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onOver();
  }
}
