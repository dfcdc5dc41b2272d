/** A recording of which the bytes can be had from their beginning, as often as they are asked for. */
export interface Recording {
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** The rate of everything that is decoded here. */
export const DECODED_RATE_HZ = 16_000;

/** What one decoder gives for a recording: samples of one channel, 16,000 a second, piece by piece. Leaving the iteration ends its work. */
export type Decoder = (recording: Recording, signal: AbortSignal) => AsyncIterable<Int16Array>;
