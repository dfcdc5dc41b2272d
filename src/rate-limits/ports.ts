/** A change of one counter. A counter begins with its first use and ends with its period. */
export interface CountChange {
  readonly name: string;
  /**
   * `take`: uses all of `amount`, or nothing if that would exceed `limit`. `charge`: always uses it, or refunds it if
   * it is below 0.
   */
  readonly kind: "charge" | "take";
  /** 0 only reads the counter. */
  readonly amount: number;
  readonly limit: number;
  readonly periodMs: number;
  /** How long a counter stays over its limit from the first refusal on; 0 if refusals change nothing. */
  readonly refusalMs: number;
  /** A period with more time left is a later one and gets no refund. */
  readonly leftMsMax: number;
}

/** A counter after a change. */
export interface Count {
  /** False if a take was refused, or if the limit is already exceeded. */
  readonly taken: boolean;
  readonly used: number;
  /** Until the end of the period; 0 if none has begun. */
  readonly leftMs: number;
}

/** Counters shared by all servers. They use their own clock, so that no server's clock matters. */
export interface CommonCounts {
  /** Applies changes in order and resolves to one count for each. Rejects if the counters do not respond. */
  change(changes: readonly CountChange[]): Promise<readonly Count[]>;
  close(): Promise<void>;
}

/** Called once when common counters stop responding and when they respond again. */
export interface CountsObserver {
  away(error: unknown): void;
  back(): void;
}
