import type { BatchEnding, HeldLine, LastingRuns } from "@antiphon/domain/batches/batch-work.ts";
import type { BatchStore } from "@antiphon/domain/batches/batches.ts";
import type { FileStore } from "@antiphon/domain/files.ts";

/** The answer to the request of a line. */
export interface LineAnswer {
  readonly status: number;
  readonly requestId: string;
  /** JSON. */
  readonly body: object;
  /** Whether it is what was asked for. */
  readonly isGood: boolean;
  /** What kind of fault it is; null if it is none that passes. `limit`: too many requests of this server's clients. */
  readonly passingFault: "limit" | "outage" | null;
}

/** Answers requests of lines as if they came over HTTP. */
export interface LineDoor {
  /** Rejects only if `signal` aborts. Responses that have begun go on. */
  answer(line: HeldLine, runs: LastingRuns, signal: AbortSignal): Promise<LineAnswer>;
  /** Removes a response that was not to be kept, if it is there. */
  removeResponse(owner: HeldLine["owner"], responseId: string): Promise<void>;
}

/** The responses that this process makes. */
export interface ProcessLoad {
  /** Whether there is a place for one more. */
  hasFreePlace(): boolean;
  /** The number of those that are made or wait here, without these. */
  countExcept(responseIds: ReadonlySet<string>): number;
}

/** Observes batches, for metrics. */
export interface BatchObserver {
  noteLine(outcome: "done" | "failed" | "lost" | "put_off"): void;
  noteEnd(status: BatchEnding): void;
  /** The lines that are answered here. */
  noteLoad(lines: number): void;
}

export interface BatchParts {
  readonly store: BatchStore;
  readonly files: Pick<FileStore, "createFile" | "findFile" | "streamFile">;
  readonly door: LineDoor;
  readonly load: ProcessLoad;
  readonly observer: BatchObserver;
  /** The maximum lines that are answered at once here. */
  readonly linesMax: number;
  /** The maximum bytes of a line. */
  readonly lineBytesMax: number;
}
