/** A program that a model wrote to call tools. */
export interface WrittenProgram {
  /** JavaScript with `await` at its top. */
  readonly code: string;
  /** As `ProgramRuntime.begin` returned it. */
  readonly fingerprint: string;
}

/** A call that a program has made. */
export interface CallOfProgram {
  /** Its name in the program: one of `names`. */
  readonly name: string;
  /** JSON text, or the text that the program passed. */
  readonly arguments: string;
}

/** A call from an earlier part of a program. `result` is null while the call has none. */
export interface EarlierCall extends Pick<CallOfProgram, "name"> {
  readonly result: CallValue | null;
}

/** What a call gives to its program: a value, or an error to throw. */
export interface CallValue {
  readonly isError: boolean;
  /** The program gets JSON as the value, and everything else as text. */
  readonly text: string;
}

/** How far a program came. */
export type ProgramState =
  /** It cannot go on before these calls have results. */
  | { readonly type: "waits"; readonly calls: readonly CallOfProgram[] }
  /** `incomplete`: it was stopped, or threw an error; `result` then says so. */
  | { readonly type: "ended"; readonly status: "completed" | "incomplete"; readonly result: string };

export interface ProgramJob {
  readonly program: WrittenProgram;
  /** The functions of `tools`, by their names there. */
  readonly names: readonly string[];
  /** The calls that the program has made so far, oldest first. */
  readonly earlierCalls: readonly EarlierCall[];
}

/**
 * Runs programs. A program keeps no state: each run begins anew, gets the results of its earlier calls, and goes on
 * from there. Its clock and its random numbers are the same in each run.
 */
export interface ProgramRuntime {
  /** The fingerprint of a new program. */
  begin(code: string): string;
  /** Rejects with the signal's reason if the signal aborts. */
  run(job: ProgramJob, signal: AbortSignal): Promise<ProgramState>;
}
