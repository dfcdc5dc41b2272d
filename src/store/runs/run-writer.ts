import type { Kysely } from "kysely";
import { StoreBusy } from "../../responses-api/ports.ts";
import { RunLost } from "../../runs/ports.ts";
import type { ConversationOutcome } from "../conversations/conversation-changes.ts";
import { changeConversations, noteConversations } from "../conversations/conversation-rows.ts";
import { RowInserter } from "../database/row-inserter.ts";
import type { Database } from "../database/schema.ts";
import {
  type CommitContext,
  type CommitPlan,
  type LiveRun,
  planCommit,
  type WriteJob,
  type WriteOutcome,
} from "./commit-plan.ts";
import { JournalSpan, writeJournal } from "./journal.ts";
import { removeDeadWorkers } from "./remove-dead-workers.ts";
import { deleteResponses, findLiveRun, updateResponses } from "./run-rows.ts";
import type { RunTail } from "./run-tail.ts";
import type { WorkerLease } from "./worker-lease.ts";

/**
 * How much of the journal a quiet run may keep before its tail becomes a chunk all the same. Bounds the journal, and
 * what is read after a crash.
 */
const JOURNAL_CHARACTERS_MAX = 4 * 1024 * 1024;

const NONE: ReadonlySet<string> = new Set();

/**
 * Writes what runs ask for, all jobs of a commit in one transaction. The only writer of responses, items and events.
 * Events of live runs go to the journal, one row for all runs, because a row for each would cost a page of the database
 * each; what fills a chunk is stored under its run.
 */
export class RunWriter {
  readonly #db: Kysely<Database>;
  readonly #lease: WorkerLease;
  readonly #inserter = new RowInserter();
  #journal = new JournalSpan();
  /** One entry for each run that has begun and not ended; each holds less than one chunk of text. */
  readonly #runs = new Map<string, LiveRun>();
  #recovery: Promise<void> | null = null;
  /** The number under which `#runs` are held. */
  #worker = 0;

  constructor(db: Kysely<Database>, lease: WorkerLease) {
    this.#db = db;
    this.#lease = lease;
  }

  /**
   * Removes dead workers, and makes chunks of what they left in their journals. Happens once, before events are
   * read or written; not when a store is opened for its keys alone.
   */
  recover(): Promise<void> {
    this.#recovery ??= this.#recover();
    return this.#recovery;
  }

  /** Forgets what it holds if that is not this worker's any more, because its lease was lost. */
  async #followLease(): Promise<void> {
    const worker = await this.#lease.number();
    if (worker === this.#worker) return;
    this.#worker = worker;
    this.#runs.clear();
    this.#journal = new JournalSpan();
  }

  /** What is durable of a run and in no chunk. */
  findTail(responseId: string): RunTail | null {
    return this.#runs.get(responseId)?.tail ?? null;
  }

  /** One call at a time. What is known of the runs changes only once the database has it. */
  async commit(jobs: readonly WriteJob[]): Promise<readonly WriteOutcome[]> {
    await this.recover();
    try {
      return await this.#commitOnce(jobs);
    } catch (error) {
      // The lease cannot be looked at either, and the wait for it was long enough.
      if (error instanceof StoreBusy) throw error;
      if (await this.#lease.renew(this.#worker)) throw error;
      return await this.#commitOnce(jobs); // Under a new number: what begins now is stored, what was lost is told so.
    }
  }

  async #commitOnce(jobs: readonly WriteJob[]): Promise<readonly WriteOutcome[]> {
    await this.#followLease();
    await this.#adoptRuns(jobs);
    const plan = planCommit(jobs, this.#context(NONE));
    if (!isOneStatement(plan) || this.#journal.excess > JOURNAL_CHARACTERS_MAX)
      return await this.#commitAll(jobs, plan);
    const journal = writeJournal(plan.journal);
    await this.#insertJournal(this.#db, journal); // Fails, as its worker is no more, if the lease was lost.
    return this.#learn(plan, journal, new Map(), new Map());
  }

  async #commitAll(jobs: readonly WriteJob[], first: CommitPlan): Promise<readonly WriteOutcome[]> {
    const { plan, journal, cut, lost, changed, deleted } = await this.#db
      .transaction()
      .execute((transaction) => this.#writeAll(transaction, jobs, first));
    this.#journal.cutAt(cut);
    for (const responseId of lost) this.#forget(responseId);
    return this.#learn(plan, journal, deleted, changed);
  }

  async #writeAll(transaction: Kysely<Database>, jobs: readonly WriteJob[], first: CommitPlan) {
    await this.#requireLease(transaction, this.#worker);
    await this.#inserter.insert(transaction, "responses", first.responses);
    await noteConversations(transaction, first.inConversations);
    const lost = await updateResponses(transaction, this.#worker, first.updates);
    const plan = lost.size === 0 ? first : planCommit(jobs, this.#context(lost));
    const journal = writeJournal(plan.journal);
    const cut = this.#journal.findStart(this.#endedTails(plan));
    await transaction
      .deleteFrom("event_journal")
      .where("worker", "=", this.#worker)
      .where("position", "<", cut)
      .execute();
    await this.#insertJournal(transaction, journal);
    await this.#inserter.insert(transaction, "event_chunks", plan.chunks);
    await this.#inserter.insert(transaction, "items", plan.items);
    const writer = { db: transaction, inserter: this.#inserter, worker: this.#worker };
    const changed = await changeConversations(writer, plan.conversations);
    return { plan, journal, cut, lost, changed, deleted: await deleteResponses(transaction, plan.deletions) };
  }

  async #insertJournal(db: Kysely<Database>, body: string): Promise<void> {
    if (body === "") return;
    await this.#inserter.insert(db, "event_journal", [{ worker: this.#worker, position: this.#journal.end, body }]);
  }

  /** Also the first thing the transaction writes, so that nothing can come between this look and the end. */
  async #requireLease(transaction: Kysely<Database>, worker: number): Promise<void> {
    if (!(await this.#lease.renew(worker, transaction)))
      throw new RunLost("this server was taken for dead, and its runs with it");
  }

  #context(lost: ReadonlySet<string>): CommitContext {
    return { worker: this.#worker, runs: this.#runs, overdue: this.#journal.findOverdue(JOURNAL_CHARACTERS_MAX), lost };
  }

  /** The runs whose stored tails are in chunks with this plan. */
  #endedTails(plan: CommitPlan): ReadonlySet<string> {
    const ended = new Set<string>();
    for (const [responseId, run] of plan.runs) {
      if (run?.tail.firstNumber !== this.#runs.get(responseId)?.tail.firstNumber) ended.add(responseId);
    }
    return ended;
  }

  #learn(
    plan: CommitPlan,
    journal: string,
    deleted: ReadonlyMap<number, string>,
    changed: ReadonlyMap<number, ConversationOutcome>,
  ): readonly WriteOutcome[] {
    for (const responseId of this.#endedTails(plan)) this.#journal.endTail(responseId);
    for (const [responseId, run] of plan.runs) {
      if (run === null) this.#forget(responseId);
      else this.#remember(responseId, run);
    }
    this.#journal.advance(journal.length);
    for (const responseId of deleted.values()) this.#forget(responseId);
    return plan.outcomes.map((outcome, index) => changed.get(index) ?? (deleted.has(index) ? "written" : outcome));
  }

  #remember(responseId: string, run: LiveRun): void {
    this.#runs.set(responseId, run);
    if (run.tail.body !== "") this.#journal.beginTail(responseId);
  }

  #forget(responseId: string): void {
    this.#runs.delete(responseId);
    this.#journal.endTail(responseId);
  }

  async #recover(): Promise<void> {
    try {
      const own = await this.#lease.number();
      await this.#db.transaction().execute(async (transaction) => {
        await this.#requireLease(transaction, own);
        await removeDeadWorkers(transaction, await this.#lease.findDead(transaction, own));
      });
    } catch (error) {
      this.#recovery = null; // The next who needs it tries again.
      throw error;
    }
  }

  /** Takes up runs that this process did not begin, such as those of a process that was killed. */
  async #adoptRuns(jobs: readonly WriteJob[]): Promise<void> {
    const opened = new Set(jobs.flatMap((job) => (job.type === "open" ? [job.responseId] : [])));
    for (const job of jobs) {
      if (job.type === "open" || job.type === "delete" || job.type === "conversation") continue;
      if (this.#runs.has(job.responseId) || opened.has(job.responseId)) continue;
      const run = await findLiveRun(this.#db, this.#worker, job.responseId);
      if (run !== null) this.#runs.set(job.responseId, run);
    }
  }
}

/** Whether a plan is one insert into the journal at most, which is atomic by itself. */
function isOneStatement(plan: CommitPlan): boolean {
  return (
    plan.responses.length +
      plan.updates.length +
      plan.items.length +
      plan.deletions.length +
      plan.conversations.length +
      plan.chunks.length ===
    0
  );
}
