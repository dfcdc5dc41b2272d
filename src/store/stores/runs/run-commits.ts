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

/** Changes that follow each other within this time are written together, in milliseconds. */
const TOGETHER_MS = 0.5;
/** The maximum changes that are written together. */
const TURN_JOBS_MAX = 64;

/** A change that is written at the end of this turn of the event loop. */
interface TurnJob {
  readonly job: RedoJob;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (reason: unknown) => void;
}

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
  #turn: TurnJob[] = [];
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** The latest logged change of each run that is not stored yet. */
  readonly #pendingJobs = new Map<string, WriteJob>();
  /** The runs that this worker surely holds: a change of theirs was stored or logged under its present number. */
  #held: { readonly worker: number; readonly ids: Set<string> } = { worker: 0, ids: new Set() };
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
    this.#endTurn();
    const worker = this.#redoLog?.worker ?? 0;
    try {
      const outcome = await this.#queue.add(job, urgency);
      this.#noteHolder(job, outcome, worker);
      if (outcome !== "written" && this.#isAhead(job))
        throw new StoreBusy("an earlier change of the run is in the redo log and not stored yet");
      if ("news" in job && job.news.length > 0) this.#onNews();
      return outcome;
    } finally {
      if ("responseId" in job) this.#lostIds.delete(job.responseId);
    }
  }

  /**
   * Makes a change durable at once, in the redo log. Returns false if that is impossible, or if changes come so fast
   * that it is better to write several together: use `addSoon`.
   */
  addNow(job: RedoJob): boolean {
    if (this.#turn.length > 0 || performance.now() - this.#writtenAt < TOGETHER_MS || !this.#takes(job)) return false;
    return this.#write([job]);
  }

  /** The same for all changes of this turn of the event loop together. What cannot be logged is committed. */
  addSoon(job: RedoJob): Promise<WriteOutcome> {
    if (!this.#takes(job)) return this.add(job, "shared");
    const { promise, resolve, reject } = Promise.withResolvers<WriteOutcome>();
    if (this.#turn.push({ job, resolve, reject }) === 1) setImmediate(() => this.#endTurn());
    else if (this.#turn.length === TURN_JOBS_MAX) this.#endTurn();
    return promise;
  }

  #endTurn(): void {
    if (this.#turn.length === 0) return;
    const turn = this.#turn;
    this.#turn = [];
    const isWritten = this.#write(turn.map(({ job }) => job));
    for (const { job, resolve, reject } of turn) {
      if (isWritten) resolve("written");
      else this.add(job, "shared").then(resolve, reject);
    }
  }

  #takes(job: RedoJob): boolean {
    if (this.#redoLog === null || this.#lostIds.has(job.responseId) || !this.#isHeld(job)) return false;
    return this.#queue.loggedSize <= LOGGED_CHARACTERS_MAX && this.#redoLog.takes(job);
  }

  /** Returns false if these jobs are not safe in the log. */
  #write(jobs: readonly RedoJob[]): boolean {
    if (!jobs.every((job) => this.#isHeld(job))) return false;
    const write = this.#redoLog?.write(jobs) ?? { type: "refused" };
    if (write.type === "refused") return false;
    this.#writtenAt = performance.now();
    const { worker, start, end } = write.span;
    if (write.type === "late") {
      this.#queue.addLogged(null, write.span);
      return false;
    }
    for (const [place, job] of jobs.entries()) {
      this.#pendingJobs.set(job.responseId, job);
      this.#heldBy(worker).add(job.responseId);
      this.#queue.addLogged(job, { worker, start, end: place === jobs.length - 1 ? end : start });
    }
    return true;
  }

  /** Whether a run is new, or its changes may be logged: after a lost lease, another worker may have claimed it. */
  #isHeld({ type, responseId }: RedoJob): boolean {
    return type === "open" || this.#heldBy(this.#redoLog?.worker ?? 0).has(responseId);
  }

  /** `worker`: the number of this worker before the change was committed. */
  #noteHolder(job: WriteJob, outcome: WriteOutcome, worker: number): void {
    if (this.#redoLog === null || !("responseId" in job)) return;
    const ids = this.#heldBy(this.#redoLog.worker);
    const goesOn = job.type === "open" || job.type === "append" || job.type === "advance";
    // The first commit of a process gives it its number.
    const isUnderNumber = worker === this.#redoLog.worker || (worker === 0 && job.type === "open");
    if (goesOn && outcome === "written" && isUnderNumber) ids.add(job.responseId);
    else if (goesOn ? outcome === "unchanged" : job.type !== "tool") ids.delete(job.responseId);
  }

  /** The runs that this worker holds; those of an earlier number are forgotten. */
  #heldBy(worker: number): Set<string> {
    if (this.#held.worker !== worker) this.#held = { worker, ids: new Set() };
    return this.#held.ids;
  }

  /** Whether a job was committed before a logged change of its run, whose commit has failed. */
  #isAhead(job: WriteJob): boolean {
    return this.#queue.isRepairing && "responseId" in job && this.isUnstored(job.responseId);
  }

  /** Whether a logged change of this run is not stored yet. */
  isUnstored(responseId: string): boolean {
    return this.#pendingJobs.has(responseId);
  }

  /** Resolves once the database has everything that was added so far; undefined if it has. */
  settle(): Promise<void> | undefined {
    this.#endTurn();
    return this.#queue.settle();
  }

  async close(): Promise<void> {
    this.#endTurn();
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
