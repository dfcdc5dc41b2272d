import type { Kysely } from "kysely";
import type { Database } from "../database/schema.ts";
import type { CommitEnd, CommitRecovery } from "../database/transaction-rules.ts";
import type { WriteJob, WriteOutcome } from "../rows/runs/write-job.ts";

/** A commit whose reply was lost. */
export interface UnknownCommit {
  readonly jobs: readonly WriteJob[];
  /** Call it if the commit was executed. */
  readonly learn: () => readonly WriteOutcome[];
}

type Commit = (jobs: readonly WriteJob[]) => Promise<readonly WriteOutcome[]>;

/** What became of commits whose reply was lost, and of their jobs. */
export class UnknownCommits {
  #latest: UnknownCommit | null = null;
  /** The outcomes of jobs of such a commit, for callers that retry. */
  readonly #outcomes = new WeakMap<WriteJob, WriteOutcome>();
  readonly #misledIds = new Set<string>();

  /** Runs with more stored events than their callers know. */
  get misledIds(): ReadonlySet<string> {
    return this.#misledIds;
  }

  note(commit: UnknownCommit): void {
    this.#latest = commit;
  }

  clear(): void {
    this.#latest = null;
    this.#misledIds.clear();
  }

  /** The events of these runs have been read again. */
  forget(responseIds: readonly string[]): void {
    for (const responseId of responseIds) this.#misledIds.delete(responseId);
  }

  /**
   * Finds out how the latest such commit ended; null if there is none. Until its callers retry, or a worker claims
   * their runs, nothing more is stored for these runs, because the callers may have been told that the commit failed.
   */
  async settle(
    recovery: CommitRecovery,
    db: Kysely<Database>,
    row: Parameters<CommitRecovery["settle"]>[1],
  ): Promise<CommitEnd | null> {
    const commit = this.#latest;
    if (commit === null) return null;
    const end = await recovery.settle(db, row);
    this.#latest = null;
    if (end === "undone") return end;
    const outcomes = end === "stored" ? commit.learn() : [];
    for (const [index, job] of commit.jobs.entries()) {
      this.#outcomes.set(job, outcomes[index] ?? "unchanged");
      if (end === "stored" && "responseId" in job) this.#misledIds.add(job.responseId);
    }
    return end;
  }

  /** Commits the jobs whose outcome is not known yet. */
  async complete(jobs: readonly WriteJob[], commit: Commit): Promise<readonly WriteOutcome[]> {
    const rest = jobs.filter((job) => !this.#outcomes.has(job));
    if (rest.length === jobs.length) return await commit(jobs);
    for (const job of jobs) if (this.#outcomes.has(job) && "responseId" in job) this.#misledIds.delete(job.responseId);
    const restOutcomes = rest.length === 0 ? [] : await commit(rest);
    const outcomes = new Map(rest.map((job, index) => [job, restOutcomes[index]]));
    return jobs.map((job) => outcomes.get(job) ?? this.#outcomes.get(job) ?? "unchanged");
  }
}
