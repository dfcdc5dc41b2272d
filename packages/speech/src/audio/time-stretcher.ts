import { joinSamples } from "./pcm.ts";

/** The length of the pieces that are laid over each other, in milliseconds. It holds two periods of a deep voice. */
const PIECE_MS = 40;
/** How far a piece may be moved to continue the wave of the piece before it. */
const SEARCH_MS = 10;
/** Every so many samples are compared. */
const COMPARED_STEP = 4;
const SEARCH_STEP = 2;

/**
 * Makes sound shorter or longer without changing its pitch, by waveform similarity overlap-add (WSOLA): pieces are
 * taken at another pace than they are laid down, each where its wave fits best.
 */
export class TimeStretcher {
  readonly #speed: number;
  readonly #half: number;
  readonly #search: number;
  #input = new Int16Array(0);
  /** The place of `#input` in the whole sound. */
  #inputStart = 0;
  /** Where the next piece would be taken, in the whole sound. */
  #place = 0;
  /** The second half of the latest piece, which the next one covers; empty at the beginning. */
  #tail = new Int16Array(0);

  /** `speed` 2 makes sound half as long. */
  constructor(speed: number, sampleRateHz: number) {
    this.#speed = speed;
    this.#half = Math.round((sampleRateHz * PIECE_MS) / 2000);
    this.#search = Math.round((sampleRateHz * SEARCH_MS) / 1000);
  }

  /** Adds samples and returns those that are ready. */
  push(samples: Int16Array): Int16Array {
    if (this.#speed === 1) return samples;
    this.#input = joinSamples([this.#input, samples]);
    const ready: Int16Array[] = [];
    while (Math.round(this.#place) + this.#search + 2 * this.#half <= this.#inputStart + this.#input.length)
      ready.push(this.#next());
    return joinSamples(ready);
  }

  /** Returns the rest. */
  end(): Int16Array {
    if (this.#speed === 1) return new Int16Array(0);
    const rest = this.push(new Int16Array(this.#search + 2 * this.#half));
    this.#input = new Int16Array(0);
    return rest;
  }

  #next(): Int16Array {
    const target = Math.round(this.#place) - this.#inputStart;
    const start = this.#tail.length === 0 ? target : this.#bestStart(target);
    const output = this.#input.slice(start, start + this.#half);
    for (const [index, old] of this.#tail.entries()) {
      const share = index / this.#half;
      output[index] = Math.round(old * (1 - share) + (output[index] ?? 0) * share);
    }
    this.#tail = this.#input.slice(start + this.#half, start + 2 * this.#half);
    this.#place += this.#half * this.#speed;
    const surplus = Math.min(
      this.#input.length,
      Math.max(0, Math.round(this.#place) - this.#search - this.#inputStart),
    );
    this.#input = this.#input.slice(surplus);
    this.#inputStart += surplus;
    return output;
  }

  /** The start of the piece whose wave is most like the one that it covers. */
  #bestStart(target: number): number {
    let best = target;
    let bestLikeness = Number.NEGATIVE_INFINITY;
    for (let start = Math.max(0, target - this.#search); start <= target + this.#search; start += SEARCH_STEP) {
      const likeness = this.#likeness(start);
      if (likeness > bestLikeness) [best, bestLikeness] = [start, likeness];
    }
    return best;
  }

  #likeness(start: number): number {
    let product = 0;
    let energy = 1;
    for (let index = 0; index < this.#half; index += COMPARED_STEP) {
      const sample = this.#input[start + index] ?? 0;
      product += sample * (this.#tail[index] ?? 0);
      energy += sample * sample;
    }
    return product / Math.sqrt(energy);
  }
}
