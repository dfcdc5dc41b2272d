import { monotonicNow, type OwnWorkers, ownNumber, renewedAt } from "../../owner/workers/own-workers.ts";
import { LEASE_MS } from "../../owner/workers/worker-lease.ts";
import { FRAME_CHARACTERS_MAX } from "../../redo-log/frames.ts";
import { redoFolder } from "../../redo-log/redo-folders.ts";
import { RedoWriter } from "../../redo-log/redo-writer.ts";
import { type RedoJob, type RedoPart, sizeOfJob } from "../../rows/runs/write-job.ts";
import type { LoggedSpan } from "./commit-queue.ts";

/** Larger jobs are committed at once: writing them twice would hold the event loop. In characters. */
const JOB_CHARACTERS_MAX = 64 * 1024;
/** The log is not written in this last part of a lease, so that a slow write ends before the lease does. */
const LEASE_REST_MS = 3_000;
const NANOSECONDS_PER_MS = 1_000_000n;
/** A longer write is slow, in milliseconds: the file system has no cache, or the disk is written back. */
const SLOW_MS = 20;
/** After this many slow writes in a row, or one that failed, the log is not written for a while. */
const SLOW_MAX = 3;
const PAUSE_MS = 60_000;

/** What became of a job: in the log and safe, in the log but too late to be relied on, or not in the log. */
export type LoggedWrite =
  | { readonly type: "safe"; readonly span: LoggedSpan }
  | { readonly type: "late"; readonly span: LoggedSpan }
  | { readonly type: "refused" };

const REFUSED: LoggedWrite = { type: "refused" };

/**
 * Writes changes of runs to the redo log of this store's worker, but only while the worker surely holds its lease:
 * whoever takes over its runs must not miss what was shown.
 */
export class RunRedoLog {
  readonly #folder: string;
  readonly #own: OwnWorkers;
  #writer: RedoWriter | null = null;
  /** The worker whose log is given up. */
  #lostWorker = 0;
  #slowWrites = 0;
  #pausedUntil = 0;

  constructor(databaseFile: string, own: OwnWorkers) {
    this.#folder = redoFolder(databaseFile);
    this.#own = own;
  }

  /** The number of this worker; 0 if it has none. */
  get worker(): number {
    return ownNumber(this.#own);
  }

  /** Whether this job may be written now. */
  takes(job: RedoJob): boolean {
    const worker = ownNumber(this.#own);
    if (worker === 0 || worker === this.#lostWorker || performance.now() < this.#pausedUntil) return false;
    if (job.type === "open" && job.claimedBy != null && job.claimedBy !== worker) return false;
    return sizeOfJob(job) <= JOB_CHARACTERS_MAX && this.#holdsLease();
  }

  /** Writes jobs that it takes as one part of the log. */
  write(jobs: readonly RedoJob[]): LoggedWrite {
    const worker = ownNumber(this.#own);
    const startedAt = performance.now();
    const text = JSON.stringify(jobs);
    if (worker === 0 || text.length > FRAME_CHARACTERS_MAX) return REFUSED;
    try {
      const span = { worker, ...this.#writerOf(worker).append(text) };
      this.#noteTime(performance.now() - startedAt);
      return { type: this.#holdsLease() && ownNumber(this.#own) === worker ? "safe" : "late", span };
    } catch {
      this.#pausedUntil = startedAt + PAUSE_MS; // The commit that is made instead reports the fault.
      return REFUSED;
    }
  }

  onStored({ worker, end }: RedoPart): void {
    if (this.#writer?.worker === worker) this.#writer.release(end);
  }

  /** What is in the log will be stored by the worker that takes over. */
  giveUp(): void {
    this.#lostWorker = this.#writer?.worker ?? 0;
    this.#writer?.close();
    this.#writer = null;
  }

  #writerOf(worker: number): RedoWriter {
    if (this.#writer?.worker === worker) return this.#writer;
    this.#writer?.close();
    this.#writer = null;
    this.#writer = new RedoWriter(this.#folder, worker);
    return this.#writer;
  }

  #holdsLease(): boolean {
    return monotonicNow() - renewedAt(this.#own) < BigInt(LEASE_MS - LEASE_REST_MS) * NANOSECONDS_PER_MS;
  }

  #noteTime(ms: number): void {
    this.#slowWrites = ms > SLOW_MS ? this.#slowWrites + 1 : 0;
    if (this.#slowWrites < SLOW_MAX) return;
    this.#slowWrites = 0;
    this.#pausedUntil = performance.now() + PAUSE_MS;
  }
}
