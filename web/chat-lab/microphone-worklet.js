/** Samples that are sent on at once: about a tenth of a second. */
const PIECE_SAMPLES = 4800;

/** Gives what the microphone hears as samples of 16 bits, with how loud it is from 0 to 1. */
class Microphone extends AudioWorkletProcessor {
  #piece = new Int16Array(PIECE_SAMPLES);
  #length = 0;
  #loudest = 0;

  process([input]) {
    for (const value of input[0] ?? []) {
      this.#loudest = Math.max(this.#loudest, Math.abs(value));
      this.#piece[this.#length] = Math.round(Math.max(-1, Math.min(1, value)) * 32_767);
      this.#length += 1;
      if (this.#length === PIECE_SAMPLES) this.#pass();
    }
    return true;
  }

  #pass() {
    this.port.postMessage({ samples: this.#piece, loudest: this.#loudest }, [this.#piece.buffer]);
    this.#piece = new Int16Array(PIECE_SAMPLES);
    this.#length = 0;
    this.#loudest = 0;
  }
}

registerProcessor("microphone", Microphone);
