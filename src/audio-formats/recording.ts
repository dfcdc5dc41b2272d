/** A recording of which the bytes can be had from their beginning, as often as they are asked for. */
export interface Recording {
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** The rate of everything that is decoded here. */
export const DECODED_RATE_HZ = 16_000;
