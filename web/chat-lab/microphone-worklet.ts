import type { Heard } from "./microphone.ts";

const LEVELS_PER_SECOND = 20;
/** Levels per piece of samples. */
const LEVELS_PER_PIECE = 5;

/**
 * Posts the level 20 times a second, and samples in pieces of a quarter of a second. On a message it posts the
 * remaining samples and ends.
 */
class Microphone extends AudioWorkletProcessor {
  readonly #levelSamples = Math.round(sampleRate / LEVELS_PER_SECOND);
  readonly #pieceSamples = this.#levelSamples * LEVELS_PER_PIECE;
  #piece = new Int16Array(this.#pieceSamples);
  #length = 0;
  #peak = 0;
  #isFinished = false;

  constructor() {
    super();
    this.port.addEventListener("message", () => this.#finish());
    this.port.start();
  }

  process([input]: readonly (readonly Float32Array[])[]): boolean {
    for (const value of input?.[0] ?? []) {
      this.#peak = Math.max(this.#peak, Math.abs(value));
      this.#piece[this.#length] = Math.round(Math.max(-1, Math.min(1, value)) * 32_767);
      this.#length += 1;
      if (this.#length % this.#levelSamples === 0) this.#postLevel();
      if (this.#length === this.#pieceSamples) this.#postPiece();
    }
    return !this.#isFinished;
  }

  #postLevel(): void {
    this.#post({ type: "level", peak: this.#peak });
    this.#peak = 0;
  }

  #postPiece(): void {
    this.#post({ type: "samples", samples: this.#piece.slice(0, this.#length) });
    this.#length = 0;
  }

  #finish(): void {
    if (this.#length > 0) this.#postPiece();
    this.#isFinished = true;
    this.#post({ type: "end" });
  }

  #post(heard: Heard): void {
    this.port.postMessage(heard, heard.type === "samples" ? [heard.samples.buffer] : []);
  }
}

registerProcessor("microphone", Microphone);
