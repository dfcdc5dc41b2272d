import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "@antiphon/base/assert.ts";
import type { Kysely } from "kysely";
import { RunLost, StoreBusy } from "../../runs/ports/store-faults.ts";
import { builtOnce, type StandIns } from "../database/built-once.ts";
import type { Database } from "../database/schema.ts";
import type { CommitRecovery, TransactionRules } from "../database/transaction-rules.ts";
import { JournalSpan, writeJournal } from "../rows/events/journal.ts";
import type { RunTail } from "../rows/events/run-tail.ts";
import { writeLedgerRows } from "../rows/ledger-rows.ts";
import { holdersOf, isOneInsert, onlyAdds, takesInput } from "../rows/runs/commit-needs.ts";
import { type CommitContext, type CommitPlan, planCommit, type UnfinishedRun } from "../rows/runs/commit-plan.ts";
import { changeConversations, findUnheld, noteConversations } from "../rows/runs/conversation-rows.ts";
import { deleteResponses, findLiveRun, updateResponses } from "../rows/runs/run-rows.ts";
import type { RedoPart, WriteJob, WriteOutcome } from "../rows/runs/write-job.ts";
import { takeSteers } from "../rows/steer-rows.ts";
import { writeWebhookEvents } from "../rows/webhook-rows.ts";
import { type UnknownCommit, UnknownCommits } from "./unknown-commits.ts";
import type { Lease } from "./workers/lease.ts";
import { removeDeadWorkers, removeRedoLogs } from "./workers/remove-dead-workers.ts";

/**
 * The maximum characters that a slow run may occupy in the journal before its tail becomes a chunk. It limits the
 * journal, and the reading after a crash.
 */
const JOURNAL_CHARACTERS_MAX = 4 * 1024 * 1024;

const NONE: ReadonlySet<string> = new Set();
const LEASE_LOST = "the lease expired, and another server may have claimed the runs";
/** How far a row without text advances the journal, so that each row has its own position. */
const MARK_CHARACTERS = 1;
/** Rows that only mark commits are removed in groups of this size. */
const CUT_CHARACTERS_MIN = 64;

/** The pause before a commit is retried, in milliseconds. */
const RETRY_MS = 100;

/** The writes of a transaction. */
interface WrittenCommit {
  readonly plan: CommitPlan;
  readonly journal: string;
  /** The position before which the journal was removed; null if nothing was. */
  readonly cut: number | null;
  readonly lostIds: ReadonlySet<string>;
  readonly changes: ReadonlyMap<number, WriteOutcome>;
  readonly deletions: ReadonlyMap<number, string>;
}

/**
 * Executes the jobs of a commit in one transaction. It is the only writer of responses, items and events. Events of
 * live runs go to the journal, one row for all runs, because a row per run would write a database page per run. Full
 * chunks are stored under their run.
 */
export class RunWriter {
  readonly #db: Kysely<Database>;
  readonly #lease: Lease;
  readonly #rules: TransactionRules;
  #journal = new JournalSpan();
  /** The live runs of this worker. Each entry has less than one chunk of text. */
  readonly #runs = new Map<string, UnfinishedRun>();
  readonly #unknown = new UnknownCommits();
  #recovery: Promise<void> | null = null;
  /** The worker number for `#runs`. */
  #worker = 0;
  /** Up to where the redo log of this worker is stored. */
  #redoPosition = 0;

  constructor(db: Kysely<Database>, lease: Lease, rules: TransactionRules) {
    this.#db = db;
    this.#lease = lease;
    this.#rules = rules;
  }

  /**
   * Removes dead workers and turns their journals into chunks. Runs once, before events are first read or written, so
   * that a store opened only for its keys skips it.
   */
  recover(): Promise<void> {
    this.#recovery ??= this.#recover();
    return this.#recovery;
  }

  /** Forgets all runs if the lease was lost and this process has a new worker number. */
  async #followLease(): Promise<void> {
    const worker = await this.#lease.number();
    if (worker === this.#worker) return;
    this.#worker = worker;
    this.#unknown.clear();
    this.#runs.clear();
    this.#journal = new JournalSpan();
    this.#redoPosition = 0;
  }

  /** The stored events of a run that are in no chunk yet. */
  findTail(responseId: string): RunTail | null {
    return this.#runs.get(responseId)?.tail ?? null;
  }

  /** Must not be called concurrently. The state in memory changes only after the database has committed. */
  async commit(jobs: readonly WriteJob[], redo: RedoPart | null): Promise<readonly WriteOutcome[]> {
    const { recovery } = this.#rules;
    if (recovery !== null) return await this.#commitPatiently(jobs, recovery);
    await this.recover();
    return await this.#commitUnlessLost(jobs, redo);
  }

  /** Retries after temporary faults. No other commit begins before the outcome of this one is known. */
  async #commitPatiently(jobs: readonly WriteJob[], recovery: CommitRecovery): Promise<readonly WriteOutcome[]> {
    const until = performance.now() + recovery.patienceMs;
    for (;;) {
      try {
        await this.recover();
        await this.#settle(recovery);
        return await this.#commitUnsettled(jobs);
      } catch (error) {
        if (!recovery.mayPass(error) || performance.now() + RETRY_MS > until) throw error;
      }
      await sleep(RETRY_MS);
    }
  }

  /** Finds out how a commit with a lost reply ended. */
  async #settle(recovery: CommitRecovery): Promise<void> {
    const end = await this.#unknown.settle(recovery, this.#db, { worker: this.#worker, position: this.#journal.end });
    if (end === "undone") this.#journal.advance(MARK_CHARACTERS);
    if (end === "gone") await this.#lease.renew(this.#worker); // There is a new number from now on.
  }

  /** Commits the jobs whose outcome is not known yet. */
  #commitUnsettled(jobs: readonly WriteJob[]): Promise<readonly WriteOutcome[]> {
    return this.#unknown.complete(jobs, (rest) => this.#commitUnlessLost(rest));
  }

  /** This worker has claimed these runs, and their events have been read again. */
  takeUp(responseIds: readonly string[]): void {
    this.#unknown.forget(responseIds);
  }

  async #commitUnlessLost(jobs: readonly WriteJob[], redo: RedoPart | null = null): Promise<readonly WriteOutcome[]> {
    try {
      return await this.#commitRedo(jobs, redo);
    } catch (error) {
      // The database is locked, so the lease cannot be checked either.
      if (error instanceof StoreBusy) throw error;
      if (await this.#lease.renew(this.#worker)) throw error;
      // With a new worker number: new runs are stored, lost runs get `unchanged`.
      return await this.#commitRedo(jobs, redo);
    }
  }

  /**
   * Leaves the jobs in the log of an earlier worker to whoever took its runs over, and stores each part of a log once.
   */
  async #commitRedo(jobs: readonly WriteJob[], redo: RedoPart | null): Promise<readonly WriteOutcome[]> {
    await this.#followLease();
    if (redo === null) return await this.#commitOnce(jobs, null);
    if (redo.worker !== this.#worker) {
      const places = new Set(redo.places);
      const rest = jobs.filter((_job, place) => !places.has(place));
      const outcomes = [...(await this.#commitOnce(rest, null))];
      return jobs.map((_job, place) => (places.has(place) ? "unchanged" : (outcomes.shift() ?? "unchanged")));
    }
    if (redo.start !== this.#redoPosition) throw new StoreBusy("an earlier part of the redo log is not stored yet");
    const outcomes = await this.#commitOnce(jobs, redo);
    this.#redoPosition = redo.end;
    return outcomes;
  }

  async #commitOnce(jobs: readonly WriteJob[], redo: RedoPart | null): Promise<readonly WriteOutcome[]> {
    await this.#adoptRuns(jobs);
    const plan = planCommit(jobs, this.#context(NONE));
    const journal = writeJournal(plan.journal);
    const store = redo === null && !jobs.some(takesInput) ? this.#inOneStatement(plan, journal) : null;
    if (store === null) return await this.#commitAll(jobs, plan, redo);
    const learn = (): readonly WriteOutcome[] => this.#learn(plan, journal, new Map(), new Map());
    return await this.#learnOnce({ jobs, learn }, store);
  }

  /**
   * Stores a plan that needs no transaction; null if it needs one. The foreign key of the journal rejects either if the
   * lease was lost.
   */
  #inOneStatement(plan: CommitPlan, journal: string): (() => Promise<void>) | null {
    const { addAll } = this.#rules;
    if (isOneInsert(plan) && this.#journal.excess <= JOURNAL_CHARACTERS_MAX)
      return () => this.#insertJournal(this.#db, journal);
    const isToBeCut = this.#journal.hasBefore(this.#journal.findStart(this.#endedTails(plan)), CUT_CHARACTERS_MIN);
    if (addAll === null || isToBeCut || !onlyAdds(plan)) return null;
    const row = { worker: this.#worker, position: this.#journal.end, body: journal };
    return () => addAll(this.#db, { ...plan, journal: row });
  }

  /** Updates the state in memory once the data is stored, or later if the reply is lost. */
  async #learnOnce(commit: UnknownCommit, store: () => Promise<void>): Promise<readonly WriteOutcome[]> {
    try {
      await store();
    } catch (error) {
      if (this.#rules.recovery?.isUnknown(error) === true) this.#unknown.note(commit);
      throw error;
    }
    return commit.learn();
  }

  async #commitAll(
    jobs: readonly WriteJob[],
    first: CommitPlan,
    redo: RedoPart | null,
  ): Promise<readonly WriteOutcome[]> {
    const result: { all: WrittenCommit | null } = { all: null };
    const learn = (): readonly WriteOutcome[] => {
      assert(result.all !== null, "a commit is learned after it was written");
      const { plan, journal, cut, lostIds, changes, deletions } = result.all;
      if (cut !== null) this.#journal.cutAt(cut);
      for (const responseId of lostIds) this.#forget(responseId);
      return this.#learn(plan, journal, deletions, changes);
    };
    return await this.#learnOnce({ jobs, learn }, async () => {
      await this.#db.transaction().execute(async (transaction) => {
        result.all = await this.#writeAll(transaction, jobs, first);
        if (redo !== null) await setRedoPosition(transaction, { worker: redo.worker, end: redo.end });
      });
    });
  }

  async #writeAll(transaction: Kysely<Database>, jobs: readonly WriteJob[], first: CommitPlan): Promise<WrittenCommit> {
    await this.#requireLease(transaction, this.#worker);
    await this.#holdOthersOff(transaction, first);
    const ledgerOutcomes = await writeLedgerRows(transaction, this.#worker, first.tools);
    const lateIds = await takeSteers(transaction, jobs);
    const unheld = (await findUnheld(transaction, this.#worker, holdersOf(jobs))).union(lateIds);
    const heldPlan = unheld.size === 0 ? first : planCommit(jobs, this.#context(unheld));
    await this.#rules.inserter.insert(transaction, "responses", heldPlan.responses);
    await noteConversations(transaction, heldPlan.inConversations);
    const endedIds = await updateResponses(transaction, this.#worker, heldPlan.updates);
    const lostIds = endedIds.size === 0 ? unheld : endedIds.union(unheld);
    const plan = endedIds.size === 0 ? heldPlan : planCommit(jobs, this.#context(lostIds));
    const journal = writeJournal(plan.journal);
    const cut = this.#journal.findStart(this.#endedTails(plan));
    const isCut = this.#journal.hasBefore(cut, this.#rules.recovery === null ? 1 : CUT_CHARACTERS_MIN);
    if (isCut) await cutJournal(transaction, { worker: this.#worker, cut });
    await this.#insertJournal(transaction, journal);
    await this.#rules.inserter.insertParts(transaction, "event_chunks", plan.chunks);
    await this.#rules.inserter.insertParts(transaction, "items", plan.items);
    const writer = { db: transaction, inserter: this.#rules.inserter, worker: this.#worker };
    const conversationOutcomes = await changeConversations(writer, plan.conversations);
    await writeWebhookEvents(transaction, plan.news);
    const changes = new Map<number, WriteOutcome>([...ledgerOutcomes, ...conversationOutcomes]);
    return {
      plan,
      journal,
      cut: isCut ? cut : null,
      lostIds,
      changes,
      deletions: await deleteResponses(transaction, plan.deletions),
    };
  }

  async #insertJournal(db: Kysely<Database>, body: string): Promise<void> {
    if (body === "" && this.#rules.recovery === null) return;
    await this.#rules.inserter.insert(db, "event_journal", [
      { worker: this.#worker, position: this.#journal.end, body },
    ]);
  }

  async #holdOthersOff(transaction: Kysely<Database>, { conversations, deletions }: CommitPlan): Promise<void> {
    if (conversations.length > 0)
      await this.#rules.holdConversations(
        transaction,
        conversations.map(({ conversationId }) => conversationId),
      );
    if (deletions.length > 0) await this.#rules.holdChains(transaction);
  }

  /** Nothing of this worker can be claimed between this check and the commit. */
  async #requireLease(transaction: Kysely<Database>, worker: number): Promise<void> {
    if (!(await this.#lease.hold(transaction, worker))) throw new RunLost(LEASE_LOST);
  }

  #context(unheld: ReadonlySet<string>): CommitContext {
    const { misledIds } = this.#unknown;
    const lostIds = misledIds.size === 0 ? unheld : unheld.union(misledIds);
    return {
      worker: this.#worker,
      runs: this.#runs,
      overdue: this.#journal.findOverdue(JOURNAL_CHARACTERS_MAX),
      lostIds,
    };
  }

  /** The runs whose tails this plan turns into chunks. */
  #endedTails(plan: CommitPlan): ReadonlySet<string> {
    const endedIds = new Set<string>();
    for (const [responseId, run] of plan.runs) {
      if (run?.tail.firstNumber !== this.#runs.get(responseId)?.tail.firstNumber) endedIds.add(responseId);
    }
    return endedIds;
  }

  #learn(
    plan: CommitPlan,
    journal: string,
    deletions: ReadonlyMap<number, string>,
    changes: ReadonlyMap<number, WriteOutcome>,
  ): readonly WriteOutcome[] {
    for (const responseId of this.#endedTails(plan)) this.#journal.endTail(responseId);
    for (const [responseId, run] of plan.runs) {
      if (run === null) this.#forget(responseId);
      else this.#remember(responseId, run);
    }
    this.#journal.advance(this.#rules.recovery === null ? journal.length : Math.max(MARK_CHARACTERS, journal.length));
    for (const responseId of deletions.values()) this.#forget(responseId);
    return plan.outcomes.map((outcome, index) => changes.get(index) ?? (deletions.has(index) ? "written" : outcome));
  }

  #remember(responseId: string, run: UnfinishedRun): void {
    this.#runs.set(responseId, run);
    if (run.tail.blocks.length > 0) this.#journal.beginTail(responseId);
  }

  #forget(responseId: string): void {
    this.#runs.delete(responseId);
    this.#journal.endTail(responseId);
  }

  async #recover(): Promise<void> {
    try {
      // If the lease was lost, there is a new number from now on.
      const deadWorkers = (await this.#removeDead()) ?? (await this.#removeDead());
      if (deadWorkers === null) throw new RunLost(LEASE_LOST);
      removeRedoLogs(this.#rules, deadWorkers);
    } catch (error) {
      this.#recovery = null; // The next caller retries.
      throw error;
    }
  }

  /** Removes the dead workers and returns them; null if the lease was lost. */
  async #removeDead(): Promise<readonly number[] | null> {
    const own = await this.#lease.number();
    return await this.#db.transaction().execute(async (transaction) => {
      if (!(await this.#lease.hold(transaction, own))) return null;
      const dead = await this.#lease.findDead(transaction, own);
      await removeDeadWorkers(transaction, this.#rules, dead);
      return dead;
    });
  }

  /** Loads runs of this worker that this process did not start, such as runs claimed from a dead worker. */
  async #adoptRuns(jobs: readonly WriteJob[]): Promise<void> {
    const openedIds = new Set(jobs.flatMap((job) => (job.type === "open" ? [job.responseId] : [])));
    for (const job of jobs) {
      if (job.type === "open" || job.type === "whole" || job.type === "delete") continue;
      if (job.type === "conversation" || job.type === "tool") continue;
      if (this.#runs.has(job.responseId) || openedIds.has(job.responseId)) continue;
      const run = await findLiveRun(this.#db, this.#worker, job.responseId);
      if (run !== null) this.#runs.set(job.responseId, run);
    }
  }
}

const setRedoPosition = builtOnce((db: Kysely<Database>, params: StandIns<Pick<RedoPart, "worker" | "end">>) =>
  db
    .updateTable("workers")
    .set({ redo_position: params.value("end") })
    .where("id", "=", params.value("worker"))
    .compile(),
);

type JournalCut = { readonly worker: number; readonly cut: number };

const cutJournal = builtOnce((db: Kysely<Database>, params: StandIns<JournalCut>) =>
  db
    .deleteFrom("event_journal")
    .where("worker", "=", params.value("worker"))
    .where("position", "<", params.value("cut"))
    .compile(),
);
