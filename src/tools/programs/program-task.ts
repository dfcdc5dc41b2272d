import type { ProgramJob } from "@antiphon/domain/programs.ts";

/** What the thread of a program is given. */
export interface ProgramTask {
  readonly code: string;
  readonly names: ProgramJob["names"];
  readonly earlierCalls: ProgramJob["earlierCalls"];
  /** The time that the program's clock shows, in milliseconds since 1970. */
  readonly now: number;
  /** Of its random numbers. */
  readonly seed: number;
  readonly limits: ProgramLimits;
}

export interface ProgramLimits {
  readonly memoryBytesMax: number;
  /** The time of one run, in milliseconds. */
  readonly runMs: number;
  readonly callsMax: number;
  /** Of all texts that the program writes. */
  readonly charactersMax: number;
}
