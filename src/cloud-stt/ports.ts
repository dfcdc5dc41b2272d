/** Finds the keys that may call. */
export interface KeyFinder {
  /** By `hashApiKey`. Null: no key has this hash, or it has come to its end. */
  findByHash(hash: string): Promise<CallingKey | null>;
}

export interface CallingKey {
  readonly id: string;
}

/**
 * Counts the streams that keys open and the sound that they send. Who takes too much is refused until a wait is over.
 */
export interface StreamRates {
  /** Counts a stream. Resolves to the milliseconds to wait where the key may open none now, else to null. */
  takeStream(keyId: string): Promise<number | null>;
  /**
   * Counts sound of an open stream. Resolves to the milliseconds to wait where the key may send no more now, else to
   * null.
   */
  takeSound(keyId: string, ms: number): Promise<number | null>;
  /** What `takeStream` would wait for, where it is not the stream itself that is one too many; nothing is counted. */
  waitMs(keyId: string): Promise<number | null>;
}
