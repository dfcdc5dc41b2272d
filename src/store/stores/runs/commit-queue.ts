import { InvariantError } from "@antiphon/base/assert.ts";
import type { RedoPart } from "../../rows/runs/write-job.ts";

export interface CommitQueueOptions<Job, Outcome> {
  /**
   * Stores all jobs in order, or none. Returns one outcome per job. May be called again before it resolves; it must
   * then store the jobs of the earlier call first. `redo`: the jobs that are in the redo log, if there are any.
   */
  readonly commit: (jobs: readonly Job[], redo: RedoPart | null) => Promise<readonly Outcome[]>;
  /** The maximum concurrent commits. Further jobs wait and share a commit. */
  readonly underWayMax: number;
  readonly sizeOf: (job: Job) => number;
  /** The shortest time between two commits in milliseconds, unless a job is urgent. */
  readonly intervalMs: number;
  /** A commit of this size accepts no further job. The other jobs, and their callers, wait for the next commit. */
  readonly commitSizeMax: number;
  readonly onCommit?: ((commit: CommitReport) => void) | undefined;
  /** What the queue does with logged jobs. Absent if there are none. */
  readonly loggedJobs?: LoggedJobs<Job, Outcome> | undefined;
}

/** The owner of the redo log. None of these may throw. */
export interface LoggedJobs<Job, Outcome> {
  /** Whether a commit that failed with this error may succeed later. */
  readonly mayPass: (error: unknown) => boolean;
  /** Whether nothing more of the log can be stored here after this error: another worker will read it. */
  readonly isOver: (error: unknown) => boolean;
  readonly onOver: () => void;
  /** This part of the log is stored. */
  readonly onStored: (redo: RedoPart) => void;
  readonly onOutcome: (job: Job, outcome: Outcome) => void;
  /** The job can never be stored. */
  readonly onRefused: (job: Job, error: unknown) => void;
}

/** The place of a job in the redo log of a worker, in bytes since the log began. */
export type LoggedSpan = Omit<RedoPart, "places">;

/** The result of one commit, for metrics and tests. */
export interface CommitReport {
  readonly jobs: number;
  readonly durationMs: number;
  readonly hasFailed: boolean;
}

/** `urgent`: commit at the end of this tick. `shared`: wait for the next commit, so that many runs share one. */
export type CommitUrgency = "urgent" | "shared";

interface WaitingJob<Job, Outcome> {
  readonly job: Job;
  readonly size: number;
  readonly span: null;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (reason: unknown) => void;
}

/** A job for which nobody waits, because it is in the redo log. Null: a part of the log that is to be passed over. */
interface LoggedJob<Job> {
  readonly job: Job | null;
  readonly size: number;
  readonly span: LoggedSpan;
  /** Its place among all logged jobs. */
  readonly place: number;
}

type Waiting<Job, Outcome> = WaitingJob<Job, Outcome> | LoggedJob<Job>;

/** How long logged jobs wait for others, in milliseconds. */
const LOGGED_PAUSE_MS = 50;
/** The pause before logged jobs are committed again after a failure, in milliseconds. */
const RETRY_MS = 200;

interface Settling {
  /** How many logged jobs must be stored. */
  readonly count: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Combines the jobs of all runs into few commits, in order. The queue itself is unlimited: its callers limit their
 * waiting jobs.
 */
export class CommitQueue<Job, Outcome> {
  readonly #options: CommitQueueOptions<Job, Outcome>;
  #waiting: Waiting<Job, Outcome>[] = [];
  #waitingSize = 0;
  /** How many of the waiting jobs have a caller that waits for them. */
  #callers = 0;
  /** How many logged jobs were added so far, and how many of them are stored: they are stored in order. */
  #loggedCount = 0;
  #storedCount = 0;
  /** The characters of those that are not stored. */
  #loggedSize = 0;
  /** When the logged jobs are due; infinite if none waits. */
  #loggedDueAt = Number.POSITIVE_INFINITY;
  /** The callers that wait until all logged jobs are stored. */
  #settlings: Settling[] = [];
  /** Since a commit with logged jobs failed, commits wait for each other, so that the log is stored in order. */
  #isRepairing = false;
  /** Whether logged jobs are committed alone, to find the one that cannot be stored. */
  #isIsolating = false;
  #urgent = false;
  readonly #underWay = new Set<Promise<void>>();
  #lastCommitAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  #immediate: NodeJS.Immediate | null = null;
  #isClosed = false;

  constructor(options: CommitQueueOptions<Job, Outcome>) {
    this.#options = options;
  }

  /** Resolves once the job is committed. If a commit fails, all of its jobs reject. */
  add(job: Job, urgency: CommitUrgency): Promise<Outcome> {
    if (this.#isClosed) return Promise.reject(new Error("The store is closed."));
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const size = this.#options.sizeOf(job);
    this.#push({ job, size, span: null, resolve, reject });
    this.#urgent ||= urgency === "urgent";
    this.#schedule();
    return promise;
  }

  /**
   * Adds a job that is in the redo log. It is stored a little later, and again and again until that succeeds. Null:
   * this part of the log is to be passed over. Of several jobs in one part, all but the last have an empty span at its
   * start.
   */
  addLogged(job: Job | null, span: LoggedSpan): void {
    const size = job === null ? 0 : this.#options.sizeOf(job);
    this.#loggedCount += 1;
    this.#loggedSize += size;
    if (this.#loggedDueAt === Number.POSITIVE_INFINITY) this.#loggedDueAt = performance.now() + LOGGED_PAUSE_MS;
    this.#push({ job, size, span, place: this.#loggedCount });
    this.#schedule();
  }

  /** Whether a commit with logged jobs has failed, and not all of them are stored since. */
  get isRepairing(): boolean {
    return this.#isRepairing;
  }

  /** The characters of the logged jobs that are not stored yet. */
  get loggedSize(): number {
    return this.#loggedSize;
  }

  /** Resolves once all logged jobs so far are stored; undefined if they are. Rejects if a commit fails. */
  settle(): Promise<void> | undefined {
    if (this.#loggedCount === this.#storedCount) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#settlings.push({ count: this.#loggedCount, resolve, reject });
    this.#urgent ||= this.#waiting.length > 0;
    this.#schedule();
    return promise;
  }

  /** Commits all waiting jobs and accepts no more. Returns false if logged jobs could not be stored. */
  async close(): Promise<boolean> {
    this.#isClosed = true;
    this.#unschedule();
    await Promise.all(this.#underWay);
    // Logged jobs whose commit fails wait again.
    for (let before = Number.POSITIVE_INFINITY; this.#waiting.length > 0 && this.#waiting.length < before; ) {
      before = this.#waiting.length;
      await this.#commitNext();
    }
    return this.#loggedCount === this.#storedCount;
  }

  #push(waiting: Waiting<Job, Outcome>): void {
    this.#waiting.push(waiting);
    this.#waitingSize += waiting.size;
    if (waiting.span === null) this.#callers += 1;
    this.#urgent ||= this.#waitingSize >= this.#options.commitSizeMax;
  }

  #schedule(): void {
    if (this.#isClosed || this.#waiting.length === 0 || this.#immediate !== null) return;
    if (this.#underWay.size >= (this.#isRepairing ? 1 : this.#options.underWayMax)) return;
    const dueAt = this.#urgent ? 0 : this.#dueAt();
    if (dueAt <= performance.now()) {
      this.#unschedule();
      this.#immediate = setImmediate(() => this.#start());
    } else if (dueAt < this.#timerAt) {
      this.#unschedule();
      this.#timerAt = dueAt;
      this.#timer = setTimeout(() => this.#start(), dueAt - performance.now());
    }
  }

  /** When the next commit is due unless a job is urgent. */
  #dueAt(): number {
    if (this.#callers === 0) return this.#loggedDueAt;
    return Math.min(this.#loggedDueAt, this.#lastCommitAt + this.#options.intervalMs);
  }

  #unschedule(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    this.#timer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#immediate = null;
  }

  #start(): void {
    this.#unschedule();
    const commit = this.#commitNext().then(() => {
      this.#underWay.delete(commit);
      this.#schedule();
    });
    this.#underWay.add(commit);
    this.#schedule(); // Jobs may be left.
  }

  /** Never rejects: a failure goes to the callers of this batch and does not affect the next batch. */
  async #commitNext(): Promise<void> {
    const batch = this.#takeBatch();
    const jobs = batch.flatMap(({ job }) => (job === null ? [] : [job]));
    const redo = redoPartOf(batch);
    const startedAt = performance.now();
    this.#lastCommitAt = startedAt;
    let outcomes: readonly Outcome[];
    try {
      outcomes = await this.#options.commit(jobs, redo);
    } catch (error) {
      this.#finishCommit(jobs.length, startedAt, true);
      if (redo !== null) this.#keepLogged(batch, error);
      for (const waiting of batch) if (waiting.span === null) waiting.reject(error);
      return;
    }
    this.#finishCommit(jobs.length, startedAt, false);
    if (redo !== null) this.#options.loggedJobs?.onStored(redo);
    this.#settleJobs(batch, outcomes);
    if (redo !== null) this.#release(batch);
  }

  #finishCommit(jobs: number, startedAt: number, hasFailed: boolean): void {
    this.#lastCommitAt = performance.now();
    this.#options.onCommit?.({ jobs, durationMs: this.#lastCommitAt - startedAt, hasFailed });
  }

  #settleJobs(batch: readonly Waiting<Job, Outcome>[], outcomes: readonly Outcome[]): void {
    let place = 0;
    for (const waiting of batch) {
      if (waiting.job === null) continue;
      const outcome = outcomes[place];
      place += 1;
      if (waiting.span === null) settle(waiting, outcome);
      else if (outcome !== undefined) this.#options.loggedJobs?.onOutcome(waiting.job, outcome);
    }
  }

  /** The logged jobs of this batch are stored, or need not be any more. */
  #release(batch: readonly Waiting<Job, Outcome>[]): void {
    for (const { span, size } of batch) {
      if (span === null) continue;
      this.#storedCount += 1;
      this.#loggedSize -= size;
    }
    while ((this.#settlings[0]?.count ?? Number.POSITIVE_INFINITY) <= this.#storedCount)
      this.#settlings.shift()?.resolve();
    if (this.#loggedCount > this.#storedCount) return;
    this.#isRepairing = false;
    this.#isIsolating = false;
  }

  /** Puts the logged jobs of a failed commit back to their place in the queue. */
  #keepLogged(batch: readonly Waiting<Job, Outcome>[], error: unknown): void {
    for (const { reject } of this.#settlings.splice(0)) reject(error);
    const entries = batch.flatMap((waiting) => (waiting.span === null ? [] : [waiting]));
    const { loggedJobs } = this.#options;
    if (loggedJobs === undefined || loggedJobs.isOver(error)) {
      loggedJobs?.onOver();
      this.#release([...entries, ...this.#waiting]);
      this.#waiting = this.#waiting.filter(({ span }) => span === null);
      this.#waitingSize = this.#waiting.reduce((sum, { size }) => sum + size, 0);
      return;
    }
    this.#isRepairing = true;
    const canNeverPass = !loggedJobs.mayPass(error);
    const entriesAgain =
      canNeverPass && batch.length === 1 ? entries.map((entry) => this.#refuse(entry, error)) : entries;
    this.#isIsolating ||= canNeverPass;
    const place = entriesAgain[0]?.place ?? 0;
    const at = this.#waiting.findIndex((waiting) => waiting.span === null || waiting.place > place);
    this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, ...entriesAgain);
    for (const { size } of entriesAgain) this.#waitingSize += size;
    this.#loggedDueAt = performance.now() + RETRY_MS;
  }

  /** Passes over a job that can never be stored. */
  #refuse({ job, size, span, place }: LoggedJob<Job>, error: unknown): LoggedJob<Job> {
    if (job !== null) this.#options.loggedJobs?.onRefused(job, error);
    this.#loggedSize -= size;
    return { job: null, size: 0, span, place };
  }

  #takeBatch(): readonly Waiting<Job, Outcome>[] {
    const end = this.#isIsolating ? 1 : this.#endOfBatch();
    const batch = this.#waiting.slice(0, end);
    this.#waiting = this.#waiting.slice(end);
    for (const { size, span } of batch) {
      this.#waitingSize -= size;
      if (span === null) this.#callers -= 1;
    }
    // Jobs that did not fit have waited long enough.
    this.#urgent = this.#callers > 0 || this.#isIsolating || this.#settlings.length > 0;
    this.#loggedDueAt = this.#waiting.length > 0 ? performance.now() + LOGGED_PAUSE_MS : Number.POSITIVE_INFINITY;
    return batch;
  }

  /** A batch is limited in size, and has whole parts of the log of one worker. */
  #endOfBatch(): number {
    let size = 0;
    let worker: number | null = null;
    let isWithinPart = false;
    const end = this.#waiting.findIndex(({ size: ownSize, span }) => {
      const isFull = size >= this.#options.commitSizeMax && !isWithinPart;
      size += ownSize;
      const isOfOther = span !== null && worker !== null && span.worker !== worker;
      worker ??= span?.worker ?? null;
      isWithinPart = span !== null && span.start === span.end;
      return isFull || isOfOther;
    });
    return end === -1 ? this.#waiting.length : end;
  }
}

/** The part of the redo log in a batch; null if there is none. */
function redoPartOf(batch: readonly Waiting<unknown, never>[]): RedoPart | null {
  const spans = batch.flatMap(({ span }) => (span === null ? [] : [span]));
  const first = spans[0];
  const last = spans.at(-1);
  if (first === undefined || last === undefined) return null;
  const jobs = batch.filter(({ job }) => job !== null);
  const places = jobs.flatMap(({ span }, place) => (span === null ? [] : [place]));
  return { worker: first.worker, start: first.start, end: last.end, places };
}

function settle<Job, Outcome>(waiting: WaitingJob<Job, Outcome>, outcome: Outcome | undefined): void {
  if (outcome === undefined) waiting.reject(new InvariantError("a commit answers each of its jobs"));
  else waiting.resolve(outcome);
}
