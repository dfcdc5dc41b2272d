/** A recording whose bytes can be read from the start any number of times. */
export interface Recording {
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** The sample rate of all decoded recordings. */
export const DECODED_RATE_HZ = 16_000;
