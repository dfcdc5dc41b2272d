/** Mono sound in signed 16-bit samples, the format used inside this server. */
export interface PcmChunk {
  readonly sampleRateHz: number;
  readonly samples: Int16Array;
}

export const BYTES_PER_SAMPLE = 2;

/** Writes samples as little-endian bytes. */
export function pcmBytes(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * BYTES_PER_SAMPLE);
  const view = new DataView(bytes.buffer);
  for (const [index, sample] of samples.entries()) view.setInt16(index * BYTES_PER_SAMPLE, sample, true);
  return bytes;
}

/** Splits bytes that arrive in pieces of any length into whole frames of `frameBytes`. */
export class FrameGatherer {
  readonly #frameBytes: number;
  #rest = new Uint8Array(0);

  constructor(frameBytes: number) {
    this.#frameBytes = frameBytes;
  }

  /** Adds bytes and returns all whole frames. The rest waits for the next call. */
  push(bytes: Uint8Array): Uint8Array {
    const all = this.#rest.length === 0 ? bytes : joinBytes(this.#rest, bytes);
    const whole = all.length - (all.length % this.#frameBytes);
    this.#rest = all.slice(whole);
    return all.subarray(0, whole);
  }

  /** Returns the rest, which is less than a frame. */
  end(): Uint8Array {
    const rest = this.#rest;
    this.#rest = new Uint8Array(0);
    return rest;
  }
}

/** Reads little-endian bytes as samples. The number of bytes must be even. */
export function samplesOf(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int16Array.from({ length: bytes.length / BYTES_PER_SAMPLE }, (_, index) =>
    view.getInt16(index * BYTES_PER_SAMPLE, true),
  );
}

/** Copies the pieces into one array. */
export function joinSamples(pieces: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const all = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let place = 0;
  for (const piece of pieces) {
    all.set(piece, place);
    place += piece.length;
  }
  return all;
}

function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
