import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

type Batch = readonly ModelEvent[];

/** A longer answer is passed on, whatever it is. */
const HELD_EVENTS_MAX = 10_000;

const OVER = { value: undefined, done: true } as const;

export interface HeldAnswerOptions {
  /** The answer calls a tool. */
  readonly onCall: () => void;
  /** Creates the answer that replaces one without a call; null if there is none. Must not reject. */
  readonly replace: () => Promise<AsyncIterable<Batch> | null>;
}

/**
 * Delays an answer until it calls a tool. An answer that stops without a call is replaced. Not a generator, because
 * `return()` must stop the turn at once, even while a batch is awaited.
 */
export class HeldAnswer implements AsyncIterableIterator<Batch, undefined> {
  /** Null after the decision. It may contain the request. */
  #options: HeldAnswerOptions | null;
  #answer: AsyncIterator<Batch>;
  #batches: Batch[] = [];
  #heldEvents = 0;
  #fault: { readonly error: unknown } | null = null;
  #isLeft = false;

  constructor(answer: AsyncIterable<Batch>, options: HeldAnswerOptions) {
    this.#answer = answer[Symbol.asyncIterator]();
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Batch, undefined>> {
    while (this.#options !== null) await this.#hold(this.#options);
    const batch = this.#batches.shift();
    if (batch !== undefined) return { value: batch, done: false };
    if (this.#fault !== null) throw this.#fault.error;
    return this.#isLeft ? OVER : await this.#answer.next();
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    this.#isLeft = true;
    this.#options = null;
    this.#batches = [];
    await this.#answer.return?.();
    return OVER;
  }

  /** Reads one more batch, and decides whether to keep waiting. */
  async #hold(options: HeldAnswerOptions): Promise<void> {
    try {
      const batch = await this.#answer.next();
      if (this.#isLeft) return;
      if (batch.done === true || (await this.#decide(batch.value, options))) this.#options = null;
    } catch (error) {
      this.#fault = { error }; // Earlier batches are passed on first.
      this.#options = null;
    }
  }

  /** Whether this batch decides which answer is passed on. */
  async #decide(batch: Batch, { onCall, replace }: HeldAnswerOptions): Promise<boolean> {
    this.#batches.push(batch);
    this.#heldEvents += batch.length;
    if (batch.some(({ type }) => type === "call_started")) {
      onCall();
      return true;
    }
    const end = batch.find((event) => event.type === "finished");
    if (end?.reason === "stop" && !this.#hasRefusal) this.#replaceBy((await replace())?.[Symbol.asyncIterator]());
    return end !== undefined || this.#heldEvents > HELD_EVENTS_MAX;
  }

  get #hasRefusal(): boolean {
    return this.#batches.some((batch) => batch.some(({ type }) => type === "refusal_delta"));
  }

  #replaceBy(other: AsyncIterator<Batch> | undefined): void {
    if (other === undefined) return;
    this.#answer = other;
    this.#batches = [];
    if (this.#isLeft) void other.return?.();
  }
}
