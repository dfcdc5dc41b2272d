/** Finds valid API keys. */
export interface CloudKeyFinder {
  /** Finds a key by its `hashApiKey`; null if it is unknown, revoked or expired. */
  findByHash(hash: string): Promise<CallingKey | null>;
}

export interface CallingKey {
  readonly id: string;
}

/** Limits how many streams a key opens and how much sound it sends in a period. */
export interface StreamRates {
  /** Counts a stream. Resolves to the milliseconds to wait if the key may open none now, otherwise to null. */
  takeStream(keyId: string): Promise<number | null>;
  /**
   * Counts sound of an open stream. Resolves to the milliseconds to wait if the key may send no more now, otherwise to
   * null.
   */
  takeSound(keyId: string, ms: number): Promise<number | null>;
  /**
   * Resolves to the milliseconds to wait if the key has already exceeded a limit, otherwise to null. Counts nothing.
   */
  waitMs(keyId: string): Promise<number | null>;
}
