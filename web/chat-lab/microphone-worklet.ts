import type { Heard } from "./microphone.ts";

const LEVELS_PER_SECOND = 20;
/** Levels for each piece of sound. */
const LEVELS_PER_PIECE = 5;

/**
 * Tells how loud it is 20 times a second, and gives a quarter of a second of samples at a time. Told to finish, it
 * gives the rest.
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
      if (this.#length % this.#levelSamples === 0) this.#tellLevel();
      if (this.#length === this.#pieceSamples) this.#givePiece();
    }
    return !this.#isFinished;
  }

  #tellLevel(): void {
    this.#tell({ type: "level", peak: this.#peak });
    this.#peak = 0;
  }

  #givePiece(): void {
    this.#tell({ type: "samples", samples: this.#piece.slice(0, this.#length) });
    this.#length = 0;
  }

  #finish(): void {
    if (this.#length > 0) this.#givePiece();
    this.#isFinished = true;
    this.#tell({ type: "end" });
  }

  #tell(heard: Heard): void {
    this.port.postMessage(heard, heard.type === "samples" ? [heard.samples.buffer] : []);
  }
}

registerProcessor("microphone", Microphone);
