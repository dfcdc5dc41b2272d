/** How a part of this machine is: `reduced` works with less than it could, `off` is switched off by the settings. */
export type MachineState = "works" | "reduced" | "off" | "fails";

/** What was found about one part. */
export interface MachineLine {
  /** Such as `spoken answers`. */
  readonly part: string;
  readonly state: MachineState;
  /** A clause without a full stop. */
  readonly text: string;
  /** The command or setting that mends it; null if nothing needs to be mended. */
  readonly cure: string | null;
}

/** A line that needs no cure. */
export function worksLine(part: string, text: string): MachineLine {
  return { part, state: "works", text, cure: null };
}
