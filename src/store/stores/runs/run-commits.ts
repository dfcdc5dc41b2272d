import { isStorageFull } from "@antiphon/base/storage-full.ts";
import { StoreSpoilt } from "@antiphon/domain/storage.ts";
import { StoreBusy, StoreStopped } from "../../../runs/ports/store-faults.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { type RedoJob, sizeOfJob, type WriteJob, type WriteOutcome } from "../../rows/runs/write-job.ts";
import { CommitQueue, type CommitReport, type CommitUrgency, type LoggedJobs } from "./commit-queue.ts";
import type { RunRedoLog } from "./run-redo-log.ts";

/** While one commit runs, the next is already queued in the thread. */
const COMMITS_UNDER_WAY_MAX = 2;
/** The maximum characters of one commit; further jobs wait for the next commit. */
const COMMIT_CHARACTERS_MAX = 8 * 1024 * 1024;
/** With more characters in the redo log and not yet stored, jobs wait for their commit. */
const LOGGED_CHARACTERS_MAX = 8 * 1024 * 1024;

/** The result codes of SQLite for faults of the disk or of another program, which may pass. */
const PASSING_CODES: ReadonlySet<unknown> = new Set([5, 6, 8, 10, 13, 14]);
const PRIMARY_CODE = 0xff;

export interface RunCommitsParts {
  readonly calls: Pick<DatabaseCalls, "commit">;
  /** Null if each change waits for its commit. */
  readonly redoLog: RunRedoLog | null;
  readonly intervalMs: number;
  readonly onCommit?: ((commit: CommitReport) => void) | undefined;
  /** Called when endpoints of webhooks are to be told of a stored end. */
  readonly onNews?: () => void;
}

/**
 * The changes of runs: each is committed to the database, or first written to the redo log of this worker and committed
 * a little later.
 */
export class RunCommits {
  readonly #queue: CommitQueue<WriteJob, WriteOutcome>;
  readonly #redoLog: RunRedoLog | null;
  readonly #onNews: () => void;
  /** The latest logged change of each run that is not stored yet. */
  readonly #pendingJobs = new Map<string, WriteJob>();
  /** Runs of which a logged change was not stored: they are lost, and their next change finds that out. */
  readonly #lostIds = new Set<string>();

  constructor({ calls, redoLog, intervalMs, onCommit, onNews = () => {} }: RunCommitsParts) {
    this.#onNews = onNews;
    this.#redoLog = redoLog;
    this.#queue = new CommitQueue({
      commit: (jobs, redo) => calls.commit(jobs, redo),
      underWayMax: COMMITS_UNDER_WAY_MAX,
      sizeOf: sizeOfJob,
      intervalMs,
      commitSizeMax: COMMIT_CHARACTERS_MAX,
      onCommit,
      loggedJobs: redoLog === null ? undefined : this.#loggedJobs(redoLog),
    });
  }

  /** Resolves once the job is committed. */
  async add(job: WriteJob, urgency: CommitUrgency): Promise<WriteOutcome> {
    try {
      const outcome = await this.#queue.add(job, urgency);
      if ("news" in job && job.news.length > 0) this.#onNews();
      return outcome;
    } finally {
      if ("responseId" in job) this.#lostIds.delete(job.responseId);
    }
  }

  /** Makes a change durable at once, in the redo log. Returns false if that is impossible now: use `add`. */
  addNow(job: RedoJob): boolean {
    if (this.#redoLog === null || this.#lostIds.has(job.responseId)) return false;
    if (this.#queue.loggedSize > LOGGED_CHARACTERS_MAX) return false;
    const write = this.#redoLog.write(job);
    if (write.type === "refused") return false;
    const isSafe = write.type === "safe";
    if (isSafe) this.#pendingJobs.set(job.responseId, job);
    this.#queue.addLogged(isSafe ? job : null, write.span);
    return isSafe;
  }

  /** Whether a logged change of this run is not stored yet. */
  isUnstored(responseId: string): boolean {
    return this.#pendingJobs.has(responseId);
  }

  /** Resolves once the database has everything that was added so far; undefined if it has. */
  settle(): Promise<void> | undefined {
    return this.#queue.settle();
  }

  async close(): Promise<void> {
    await this.#queue.close();
    this.#redoLog?.giveUp();
  }

  #loggedJobs(redoLog: RunRedoLog): LoggedJobs<WriteJob, WriteOutcome> {
    const lose = (job: WriteJob): void => {
      if ("responseId" in job) this.#lostIds.add(job.responseId);
    };
    const forget = (job: WriteJob): void => {
      if ("responseId" in job && this.#pendingJobs.get(job.responseId) === job)
        this.#pendingJobs.delete(job.responseId);
    };
    return {
      mayPass: (error) => error instanceof StoreBusy || isStorageFull(error) || isPassingFault(error),
      isOver: (error) => error instanceof StoreStopped || error instanceof StoreSpoilt,
      onOver: () => {
        redoLog.giveUp();
        this.#pendingJobs.clear();
      },
      onStored: (redo) => redoLog.onStored(redo),
      onOutcome: (job, outcome) => {
        forget(job);
        if (outcome !== "written") lose(job);
      },
      onRefused: (job) => {
        forget(job);
        lose(job);
      },
    };
  }
}

function isPassingFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errcode" in error && typeof error.errcode === "number") return PASSING_CODES.has(error.errcode & PRIMARY_CODE);
  return isPassingFault(error.cause);
}
