import { setImmediate as letOthersRun } from "node:timers/promises";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { type AnswerLimits, AnswerMeter, beginningOf } from "./answer-meter.ts";

type Batch = readonly ModelEvent[];

/**
 * A longer text delta is split into pieces of this many UTF-16 code units. Each becomes one event, which is stored and
 * sent at once.
 */
export const DELTA_CHARACTERS_MAX = 64 * 1024;

/**
 * Wraps an engine. An answer that reaches a limit ends there, with the finish reason `length`. `onReached` then gets
 * the model's name.
 */
export function limitAnswers(
  engine: ModelEngine,
  limits: AnswerLimits,
  onReached: (model: string) => void,
): ModelEngine {
  return {
    ...engine,
    sample: async (request, signal, ...more) => {
      const { model } = request; // So that the answer does not keep the request and its history in memory.
      const turn = await engine.sample(request, signal, ...more);
      return new LimitedTurn(turn, new AnswerMeter(limits), () => onReached(model));
    },
  };
}

/** Not a generator, because `return()` must stop the turn at once, even while a batch is awaited. */
class LimitedTurn implements AsyncIterableIterator<Batch, undefined> {
  readonly #turn: AsyncIterator<Batch>;
  readonly #meter: AnswerMeter;
  readonly #onReached: () => void;
  #ready: Batch[] = [];
  #isOver = false;

  constructor(turn: AsyncIterable<Batch>, meter: AnswerMeter, onReached: () => void) {
    this.#turn = turn[Symbol.asyncIterator]();
    this.#meter = meter;
    this.#onReached = onReached;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Batch, undefined>> {
    const ready = this.#ready.shift();
    if (ready !== undefined) {
      await letOthersRun();
      return { value: ready, done: false };
    }
    if (this.#isOver) return OVER;
    const batch = await this.#turn.next();
    if (batch.done === true) return OVER;
    const fitting = this.#fitting(batch.value);
    if (fitting !== batch.value) await this.#end();
    if (!fitting.some(isLong)) return { value: fitting, done: false };
    const [first = [], ...others] = inPieces(fitting);
    this.#ready = others;
    return { value: first, done: false };
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    this.#isOver = true;
    this.#ready = [];
    await this.#turn.return?.();
    return OVER;
  }

  /** The batch itself, or its fitting part followed by a `finished` event. */
  #fitting(batch: Batch): Batch {
    let place = -1;
    for (const event of batch) {
      place += 1;
      const part = this.#meter.fit(event);
      if (part === event) continue;
      const last = part === null ? [] : [part];
      return [...batch.slice(0, place), ...last, { type: "finished", reason: "length" }];
    }
    return batch;
  }

  async #end(): Promise<void> {
    await this.return();
    this.#onReached();
  }
}

const OVER = { value: undefined, done: true } as const;

/** Splits long texts, so that each batch takes little time. Each piece is its own batch. */
function inPieces(events: Batch): readonly Batch[] {
  const batches: ModelEvent[][] = [[]];
  for (const event of events) {
    if (!isLong(event)) batches.at(-1)?.push(event);
    else batches.push(...piecesOf(event).map((piece) => [piece]), []);
  }
  return batches.filter((batch) => batch.length > 0);
}

type Delta = Extract<ModelEvent, { readonly text: string }>;

function isLong(event: ModelEvent): event is Delta {
  return "text" in event && event.text.length > DELTA_CHARACTERS_MAX;
}

/** The first piece keeps the log probabilities. */
function piecesOf(event: Delta): readonly ModelEvent[] {
  const pieces: ModelEvent[] = [];
  let rest = event.text;
  while (rest !== "") {
    const text = beginningOf(rest, DELTA_CHARACTERS_MAX);
    rest = rest.slice(text.length);
    pieces.push(pieces.length === 0 ? { ...event, text } : { type: event.type, text });
  }
  return pieces;
}
