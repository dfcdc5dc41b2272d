export interface Measured {
  /** From the end of the sound to its transcript, in milliseconds. */
  readonly waitMs: number;
  /** CPU time of all processes involved, from the first byte on, in milliseconds. */
  readonly cpuMs: number;
}
