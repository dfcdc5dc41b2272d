import type { BatchError, CreateBatchRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "../owner.ts";

/** A batch that this process works on. No other process does until it is released, or this process dies. */
export interface HeldBatch {
  readonly number: number;
  readonly worker: number;
  readonly id: string;
  readonly owner: Owner;
  readonly endpoint: CreateBatchRequest["endpoint"];
  readonly inputFileId: string;
  readonly outputExpiresAfter: number | null;
}

export type BatchEnding = "cancelled" | "completed" | "expired";

/** What has to be done for a batch beside its lines. */
export type BatchWork =
  | { readonly type: "check"; readonly batch: HeldBatch }
  | { readonly type: "finish"; readonly batch: HeldBatch; readonly ending: BatchEnding }
  /** It is over, and its lines can be removed. */
  | { readonly type: "clear"; readonly batch: HeldBatch };

/** A checked line of an input file. */
export interface InputLine {
  /** From 1. */
  readonly line: number;
  readonly customId: string;
  /** The body of the request as JSON. */
  readonly body: string;
}

/** A line that this process answers. No other process does until it is settled or released, or this process dies. */
export interface HeldLine extends InputLine {
  readonly batchNumber: number;
  readonly batchId: string;
  readonly worker: number;
  readonly owner: Owner;
  readonly keyId: string;
  readonly endpoint: CreateBatchRequest["endpoint"];
  /** How often it was put off. */
  readonly attempts: number;
}

export interface LineUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export interface LineOutcome {
  readonly state: "done" | "failed";
  /** The line of the output file or error file. */
  readonly result: string;
  readonly usage: LineUsage;
}

/** A line of a file that is written: its text, or what was never begun. */
export interface WrittenLine {
  readonly line: number;
  readonly customId: string;
  /** Null if it was not begun. */
  readonly result: string | null;
}

/** The response of a line. */
export interface LineRun {
  /** From 0: which of several answers. */
  readonly choice: number;
  readonly responseId: string;
  /** Whether it stays once the line is settled. */
  readonly isKept: boolean;
}

/** The work on the batches of the database, shared by its processes. */
export interface BatchQueue {
  /** Calls the listener when this process has added work. */
  listen(listener: () => void): void;
  /**
   * Moves batches on whose time is over or whose lines are all settled, and frees what dead processes held. Resolves to
   * the number of batches that are not over.
   */
  look(): Promise<number>;
  claimWork(): Promise<BatchWork | null>;
  /** Leaves the work to whoever claims it after this pause. */
  releaseWork(batch: HeldBatch, pauseMs: number): Promise<void>;
  /** Frees batches that this process holds and does not work on: it was not told of them, or could not free them. */
  releaseOthers(known: HeldBatch | null): Promise<void>;
  /** Adds lines to a batch that is checked. False if it is another's, or was cancelled. */
  addLines(batch: HeldBatch, lines: readonly InputLine[]): Promise<boolean>;
  /** The lines of a checked batch can be answered. `model`: null unless all name the same. */
  begin(batch: HeldBatch, total: number, model: string | null): Promise<void>;
  fail(batch: HeldBatch, errors: readonly BatchError[]): Promise<void>;
  /** The ids of its output file and error file, the same in all attempts. */
  nameFiles(batch: HeldBatch): Promise<BatchFiles>;
  /** Lines with a number above `after`, in order: those done, or all others. Empty after the last one. */
  linesOf(batch: HeldBatch, state: "done" | "not done", after: number): Promise<readonly WrittenLine[]>;
  /** Ends a batch. A file that was not written is null. */
  end(batch: HeldBatch, ending: BatchEnding, files: NamedFiles): Promise<void>;
  /** Removes some lines of a batch. False once none are left. */
  removeLines(batch: HeldBatch): Promise<boolean>;
  /** Nothing is left to do for a batch. */
  close(batch: HeldBatch): Promise<void>;
  /** The responses of a batch that are not kept. */
  unkeptRuns(batch: HeldBatch): Promise<readonly string[]>;
}

export interface BatchFiles {
  readonly outputFileId: string;
  readonly errorFileId: string;
}

export interface NamedFiles {
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
}

/** The lines that wait for an answer. */
export interface LineQueue {
  /** Takes a line of the batch whose turn it is; null if none is due. */
  claim(): Promise<HeldLine | null>;
  /** False if the line is another's. */
  settle(line: HeldLine, outcome: LineOutcome): Promise<boolean>;
  /** Leaves the line to whoever claims it after this pause. `counts`: whether it is an attempt. */
  release(line: HeldLine, pauseMs: number, counts: boolean): Promise<void>;
  /** Frees lines that this process holds and does not answer, for the same reasons. */
  releaseOthers(known: readonly HeldLine[]): Promise<void>;
  /** The responses that were named for a line. */
  runsOf(line: HeldLine): Promise<readonly LineRun[]>;
  /** Names the response of a line before it is created. Rejects if the line is another's. */
  nameRun(line: HeldLine, run: LineRun): Promise<void>;
  /** The response does not exist any more. */
  forgetRun(responseId: string): Promise<void>;
}

/** The responses of a caller that are made to their end, whichever process begins them, such as a line of a batch. */
export interface LastingRuns {
  /** The response that was named for this choice, whether or not it exists; null if there is none. */
  find(choice: number): string | null;
  /** Says which response it is, before it is created. `isKept`: whether the request wants it stored. */
  name(choice: number, responseId: string, isKept: boolean): Promise<void>;
  /** The response could not be created. */
  refuse(): void;
}
