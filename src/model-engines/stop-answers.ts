import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

type Batch = readonly ModelEvent[];
type TextDelta = Extract<ModelEvent, { readonly type: "text_delta" }>;

/**
 * Wraps an engine. An answer ends before the first of the stop sequences of its request, also where the model server
 * does not know them. The call of the model server is then left.
 */
export function stopAnswers(engine: ModelEngine): ModelEngine {
  return {
    ...engine,
    sample: async (request, signal, ...more) => {
      const stops = request.extras?.stop ?? [];
      const turn = await engine.sample(request, signal, ...more);
      return stops.length === 0 ? turn : new StoppingTurn(turn, new StopFinder(stops));
    },
  };
}

/** Not a generator, because `return()` must stop the turn at once, even while a batch is awaited. */
class StoppingTurn implements AsyncIterableIterator<Batch, undefined> {
  readonly #turn: AsyncIterator<Batch>;
  readonly #finder: StopFinder;
  #isOver = false;

  constructor(turn: AsyncIterable<Batch>, finder: StopFinder) {
    this.#turn = turn[Symbol.asyncIterator]();
    this.#finder = finder;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Batch, undefined>> {
    for (;;) {
      if (this.#isOver) return OVER;
      const batch = await this.#turn.next();
      if (batch.done === true) return await this.#afterEnd();
      const events = batch.value.flatMap((event) => (this.#finder.sequence === null ? this.#finder.read(event) : []));
      const { sequence } = this.#finder;
      if (sequence !== null) {
        await this.return();
        const end: Batch = [
          { type: "stop_sequence", sequence },
          { type: "finished", reason: "stop" },
        ];
        return { value: [...events, ...end], done: false };
      }
      if (events.length > 0) return { value: events, done: false };
    }
  }

  /** A turn that breaks off shows what was held back. */
  async #afterEnd(): Promise<IteratorResult<Batch, undefined>> {
    this.#isOver = true;
    const held = this.#finder.release();
    return held.length === 0 ? OVER : { value: held, done: false };
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    this.#isOver = true;
    await this.#turn.return?.();
    return OVER;
  }
}

const OVER = { value: undefined, done: true } as const;

/** Looks for stop sequences in the texts of one answer, and holds back what may be the beginning of one. */
export class StopFinder {
  readonly #stops: readonly string[];
  #held: TextDelta[] = [];
  /** The stop sequence that was found; null before. */
  sequence: string | null = null;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** The events that can be shown now. After a stop sequence, nothing more is read. */
  read(event: ModelEvent): readonly ModelEvent[] {
    if (event.type !== "text_delta") return [...this.release(), event];
    this.#held.push(event);
    const text = this.#held.map((held) => held.text).join("");
    const stop = firstStop(text, this.#stops);
    if (stop === null) return this.#showBefore(text.length - longestBeginning(text, this.#stops));
    this.sequence = stop.sequence;
    const shown = this.#cutAt(stop.place);
    this.#held = [];
    return shown;
  }

  /** What was held back, because nothing follows that would complete a stop sequence. */
  release(): readonly ModelEvent[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  /** Shows whole deltas that end at this place at the latest. */
  #showBefore(place: number): readonly ModelEvent[] {
    let end = 0;
    const count = this.#held.findIndex(({ text }) => (end += text.length) > place);
    return this.#held.splice(0, count === -1 ? this.#held.length : count);
  }

  /** The deltas before this place. One that is cut loses its log probabilities, which are those of whole tokens. */
  #cutAt(place: number): readonly ModelEvent[] {
    const shown: ModelEvent[] = [];
    let start = 0;
    for (const delta of this.#held) {
      const left = place - start;
      if (left <= 0) break;
      shown.push(delta.text.length <= left ? delta : { type: "text_delta", text: delta.text.slice(0, left) });
      start += delta.text.length;
    }
    return shown;
  }
}

/** The stop sequence that begins first in the text. */
function firstStop(text: string, stops: readonly string[]): { sequence: string; place: number } | null {
  let first: { sequence: string; place: number } | null = null;
  for (const sequence of stops) {
    const place = text.indexOf(sequence);
    if (place >= 0 && (first === null || place < first.place)) first = { sequence, place };
  }
  return first;
}

/** The length of the longest end of the text that begins a stop sequence. */
function longestBeginning(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1) {
      if (text.endsWith(stop.slice(0, length))) longest = length;
    }
  }
  return longest;
}
