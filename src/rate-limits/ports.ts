/** A change of one counter. A counter begins with its first use and ends with its period. */
export interface CountChange {
  readonly name: string;
  /**
   * `take`: uses all of `amount`, or nothing if more than `limit` would be used then. `charge`: uses it in any case, or
   * gives it back if it is below 0.
   */
  readonly kind: "charge" | "take";
  /** An amount of 0 only asks. */
  readonly amount: number;
  readonly limit: number;
  readonly periodMs: number;
  /** How long a counter stays over its limit from the first refusal on; 0 if refusals change nothing. */
  readonly refusalMs: number;
  /** Nothing is given back to a period that has more time left than this, because it is a later one. */
  readonly leftMsMax: number;
}

/** A counter after a change. */
export interface Count {
  /** False if a taking was refused, or if more than the limit is used already. */
  readonly taken: boolean;
  readonly used: number;
  /** Until the end of the period; 0 if none has begun. */
  readonly leftMs: number;
}

/** Counters that all servers change. Their time is that of the counters, so that no server's clock matters. */
export interface CommonCounts {
  /** Makes changes in the given order, and resolves to one count for each. Rejects if the counters do not answer. */
  change(changes: readonly CountChange[]): Promise<readonly Count[]>;
  close(): Promise<void>;
}

/** Told once when common counters stop answering and when they answer again. */
export interface CountsObserver {
  away(error: unknown): void;
  back(): void;
}
