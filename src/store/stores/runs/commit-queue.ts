import { InvariantError } from "@antiphon/base/assert.ts";

export interface CommitQueueOptions<Job, Outcome> {
  /**
   * Stores all jobs in order, or none. Returns one outcome per job. May be called again before it resolves; it must
   * then store the jobs of the earlier call first.
   */
  readonly commit: (jobs: readonly Job[]) => Promise<readonly Outcome[]>;
  /** The maximum concurrent commits. Further jobs wait and share a commit. */
  readonly underWayMax: number;
  readonly sizeOf: (job: Job) => number;
  /** The shortest time between two commits in milliseconds, unless a job is urgent. */
  readonly intervalMs: number;
  /** A commit of this size accepts no further job. The other jobs, and their callers, wait for the next commit. */
  readonly commitSizeMax: number;
  readonly onCommit?: ((commit: CommitReport) => void) | undefined;
}

/** The result of one commit, for metrics and tests. */
export interface CommitReport {
  readonly jobs: number;
  readonly durationMs: number;
  readonly hasFailed: boolean;
}

/** `urgent`: commit at the end of this tick. `shared`: wait for the next commit, so that many runs share one. */
export type CommitUrgency = "urgent" | "shared";

interface Waiting<Job, Outcome> {
  readonly job: Job;
  readonly size: number;
  readonly resolve: (outcome: Outcome) => void;
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
  #urgent = false;
  readonly #underWay = new Set<Promise<void>>();
  #lastCommitAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
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
    this.#waiting.push({ job, size, resolve, reject });
    this.#waitingSize += size;
    this.#urgent ||= urgency === "urgent" || this.#waitingSize >= this.#options.commitSizeMax;
    this.#schedule();
    return promise;
  }

  /** Commits all waiting jobs and accepts no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unschedule();
    await Promise.all(this.#underWay);
    while (this.#waiting.length > 0) await this.#commitNext();
  }

  #schedule(): void {
    if (this.#isClosed || this.#waiting.length === 0 || this.#immediate !== null) return;
    if (this.#underWay.size >= this.#options.underWayMax) return;
    const waitMs = this.#lastCommitAt + this.#options.intervalMs - performance.now();
    if (this.#urgent || waitMs <= 0) {
      this.#unschedule();
      this.#immediate = setImmediate(() => this.#start());
    } else {
      this.#timer ??= setTimeout(() => this.#start(), waitMs);
    }
  }

  #unschedule(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    this.#timer = null;
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
    const startedAt = performance.now();
    this.#lastCommitAt = startedAt;
    let outcomes: readonly Outcome[];
    try {
      outcomes = await this.#options.commit(batch.map((waiting) => waiting.job));
    } catch (error) {
      this.#finishCommit(batch.length, startedAt, true);
      for (const waiting of batch) waiting.reject(error);
      return;
    }
    this.#finishCommit(batch.length, startedAt, false);
    for (const [index, waiting] of batch.entries()) settle(waiting, outcomes[index]);
  }

  #finishCommit(jobs: number, startedAt: number, hasFailed: boolean): void {
    this.#lastCommitAt = performance.now();
    this.#options.onCommit?.({ jobs, durationMs: this.#lastCommitAt - startedAt, hasFailed });
  }

  #takeBatch(): readonly Waiting<Job, Outcome>[] {
    let size = 0;
    const end = this.#waiting.findIndex((waiting) => {
      const full = size >= this.#options.commitSizeMax;
      size += waiting.size;
      return full;
    });
    const batch = end === -1 ? this.#waiting : this.#waiting.slice(0, end);
    this.#waiting = end === -1 ? [] : this.#waiting.slice(end);
    for (const waiting of batch) this.#waitingSize -= waiting.size;
    this.#urgent = this.#waiting.length > 0; // Jobs that did not fit have waited long enough.
    return batch;
  }
}

function settle<Job, Outcome>(waiting: Waiting<Job, Outcome>, outcome: Outcome | undefined): void {
  if (outcome === undefined) waiting.reject(new InvariantError("a commit answers each of its jobs"));
  else waiting.resolve(outcome);
}
