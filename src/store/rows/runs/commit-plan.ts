import { assertNever } from "@antiphon/base/assert.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Insertable } from "kysely";
import type { RowOfResponse } from "../../database/row-inserter.ts";
import type { ItemDirection, ResponsesTable } from "../../database/schema.ts";
import { wholeText } from "../../database/stored-text.ts";
import type { EventBlock } from "../events/event-block.ts";
import type { JournalEntry } from "../events/journal.ts";
import { emptyTail, extendTail, type RunTail } from "../events/run-tail.ts";
import { type ConversationEnd, endStep, type PlannedChange } from "../items/conversation-changes.ts";
import type { ItemText } from "../items/item-text.ts";
import type { PlannedLedgerChange } from "../ledger-rows.ts";
import type { PlannedEvent } from "../webhook-rows.ts";
import { type Ending, NOT_ENDED, type Snapshot } from "./response-columns.ts";
import type { ReleaseJob, WriteJob, WriteOutcome } from "./write-job.ts";

/** A change of a live response that this worker holds. A response that has ended or was released has no holder. */
export type ResponseUpdate =
  | { readonly type: "advance"; readonly responseId: string; readonly snapshot: Snapshot }
  | { readonly type: "end"; readonly responseId: string; readonly snapshot: Snapshot; readonly ending: Ending }
  | ReleaseJob;

/** The writer's knowledge of an unfinished run. */
export interface UnfinishedRun {
  readonly owner: Owner;
  readonly tail: RunTail;
}

/** The writes of one commit, and the state of the runs afterwards. */
export interface CommitPlan {
  readonly responses: readonly Insertable<ResponsesTable>[];
  /** The responses that are made in a conversation. */
  readonly inConversations: readonly { readonly responseId: string; readonly conversationId: string }[];
  /** New snapshots, in order. The last snapshot of an ended run ends it. */
  readonly updates: readonly ResponseUpdate[];
  readonly items: readonly RowOfResponse<"items">[];
  readonly chunks: readonly RowOfResponse<"event_chunks">[];
  readonly journal: readonly JournalEntry[];
  readonly deletions: readonly { readonly job: number; readonly responseId: string; readonly owner: Owner }[];
  /** Applied in order, after the responses and items are stored. */
  readonly conversations: readonly PlannedChange[];
  /** Applied in order, before everything else: the writes of a call come before the end of its response. */
  readonly tools: readonly PlannedLedgerChange[];
  /** What endpoints of webhooks are told of runs that end. */
  readonly news: readonly PlannedEvent[];
  readonly outcomes: readonly WriteOutcome[];
  /** The changed runs; null for runs that ended. */
  readonly runs: ReadonlyMap<string, UnfinishedRun | null>;
}

/** The inputs of a plan besides its jobs. */
export interface CommitContext {
  readonly worker: number;
  readonly runs: ReadonlyMap<string, UnfinishedRun>;
  /** Runs whose tail must become a chunk now, so that the journal can be truncated. */
  readonly overdue: ReadonlySet<string>;
  /**
   * Runs that another worker has ended, whole runs that lost the lock on their conversation, and new ones whose inputs
   * another response has taken.
   */
  readonly lostIds: ReadonlySet<string>;
}

/** Turns the jobs of one commit into rows. Pure function. */
export function planCommit(jobs: readonly WriteJob[], context: CommitContext): CommitPlan {
  const draft = new CommitDraft(context);
  const outcomes = jobs.map((job, index) => draft.add(job, index));
  for (const responseId of context.overdue) draft.find(responseId);
  return { ...draft.rows(), outcomes };
}

type NewResponse = Pick<
  Extract<WriteJob, { type: "open" }>,
  "responseId" | "owner" | "streamed" | "conversationId" | "origin"
>;

interface RunDraft {
  readonly before: UnfinishedRun;
  /**
   * The first events of a run become a chunk at once: they echo the whole request, and would otherwise stay in memory
   * as the tail.
   */
  readonly isNew: boolean;
  readonly events: EventBlock[];
  nextNumber: number;
  /** Nothing is written for a deleted run. A released run belongs to any worker that claims it. */
  state: "live" | "ended" | "deleted" | "released";
}

class CommitDraft {
  readonly #context: CommitContext;
  readonly #runs = new Map<string, RunDraft>();
  readonly #responses: CommitPlan["responses"][number][] = [];
  readonly #inConversations: CommitPlan["inConversations"][number][] = [];
  readonly #updates: ResponseUpdate[] = [];
  readonly #items: CommitPlan["items"][number][] = [];
  readonly #deletions: CommitPlan["deletions"][number][] = [];
  readonly #conversations: PlannedChange[] = [];
  readonly #tools: PlannedLedgerChange[] = [];
  readonly #news: PlannedEvent[] = [];

  constructor(context: CommitContext) {
    this.#context = context;
  }

  add(job: WriteJob, index: number): WriteOutcome {
    switch (job.type) {
      case "open":
        return this.#open(job);
      case "append":
        return addEvents(this.find(job.responseId), job.events);
      case "advance":
        return this.#advance(job);
      case "close":
        return this.#close(job, index);
      case "whole":
        return this.#storeWhole(job, index);
      case "release":
        return this.#release(job);
      case "delete":
        return this.#delete(job, index);
      case "conversation":
        this.#conversations.push({ job: index, ...job });
        return "unchanged"; // Replaced by the database's result.
      case "tool":
        this.#tools.push({ job: index, ...job });
        return "unchanged"; // As above.
      default:
        return assertNever(job);
    }
  }

  /** The state of the run after the jobs so far; null unless it is live or ends in this commit. */
  find(responseId: string): RunDraft | null {
    const run = this.#runs.get(responseId);
    if (run !== undefined) return run;
    const unfinishedRun = this.#context.runs.get(responseId);
    return unfinishedRun === undefined || this.#context.lostIds.has(responseId)
      ? null
      : this.#begin(responseId, unfinishedRun, false);
  }

  rows(): Omit<CommitPlan, "outcomes"> {
    const chunks: CommitPlan["chunks"][number][] = [];
    const journal: JournalEntry[] = [];
    const runs = new Map<string, UnfinishedRun | null>();
    for (const [responseId, { before, isNew, events, state }] of this.#runs) {
      if (state !== "live") runs.set(responseId, null);
      if (state === "deleted") continue;
      const endsTail = isNew || state !== "live" || this.#context.overdue.has(responseId);
      const step = extendTail(before.tail, events, endsTail);
      for (const { firstNumber, lastNumber, body } of step.chunks) {
        chunks.push({ response_id: responseId, first_number: firstNumber, last_number: lastNumber, body });
      }
      if (step.journalChunk !== null) journal.push({ responseId, ...step.journalChunk });
      if (state === "live") runs.set(responseId, { owner: before.owner, tail: step.tail });
    }
    return {
      responses: this.#responses,
      inConversations: this.#inConversations,
      updates: this.#updates,
      items: this.#items,
      deletions: this.#deletions,
      conversations: this.#conversations,
      tools: this.#tools,
      news: this.#news,
      chunks,
      journal,
      runs,
    };
  }

  #open(job: Extract<WriteJob, { type: "open" }>): WriteOutcome {
    if (this.#isLost(job)) return "unchanged";
    const { responseId, owner, snapshot, origin, task, streamed, conversationId } = job;
    this.#addResponse(
      { responseId, owner, streamed, conversationId, origin },
      { ...snapshot, worker: this.#context.worker, task },
      NOT_ENDED,
    );
    this.#addItems(responseId, owner, "input", job.items);
    return addEvents(this.#begin(responseId, { owner, tail: emptyTail(0) }, true), job.events);
  }

  #storeWhole(job: Extract<WriteJob, { type: "whole" }>, index: number): WriteOutcome {
    const { responseId, owner, snapshot, origin, ending, streamed, conversation } = job;
    if (this.#isLost(job)) return "unchanged";
    const run = this.#begin(responseId, { owner, tail: emptyTail(0) }, true);
    const outcome = addEvents(run, job.events);
    run.state = outcome === "written" ? "ended" : "deleted";
    if (outcome !== "written") return outcome;
    const conversationId = conversation?.conversationId ?? null;
    const record = { responseId, owner, streamed, conversationId, origin };
    this.#addResponse(record, { ...snapshot, worker: null, task: null }, ending);
    this.#addItems(responseId, owner, "input", job.inputItems);
    this.#addItems(responseId, owner, "output", job.outputItems);
    if (conversation !== null) this.#endInConversation(conversation, responseId, owner, index);
    for (const event of job.news) this.#news.push({ ...event, owner, responseId });
    return outcome;
  }

  /** Whether another worker has a new run, or the key of its request, which was claimed under an earlier number. */
  #isLost({ responseId, claimedBy }: { readonly responseId: string; readonly claimedBy?: number | null }): boolean {
    return this.#context.lostIds.has(responseId) || (claimedBy != null && claimedBy !== this.#context.worker);
  }

  /** A new row. Its columns always have the same order. */
  #addResponse(
    { responseId, owner, streamed, conversationId, origin }: NewResponse,
    columns: Snapshot & Pick<ResponsesTable, "worker" | "task">,
    ending: Ending,
  ): void {
    const { worker, task, ...snapshot } = columns;
    this.#responses.push({
      id: responseId,
      organization: owner.organization,
      project: owner.project,
      ...snapshot,
      version: 1,
      worker,
      task,
      streamed: streamed ? 1 : 0,
      stop_asked: 0,
      ...origin,
      ...ending,
    });
    if (conversationId !== null) this.#inConversations.push({ responseId, conversationId });
  }

  #close(job: Extract<WriteJob, { type: "close" }>, index: number): WriteOutcome {
    const run = this.find(job.responseId);
    const outcome = addEvents(run, job.events);
    if (run === null || outcome !== "written") return outcome;
    run.state = "ended";
    this.#updates.push({ type: "end", responseId: job.responseId, snapshot: job.snapshot, ending: job.ending });
    this.#addItems(job.responseId, run.before.owner, "output", job.items);
    const { owner } = run.before;
    if (job.conversation !== null) this.#endInConversation(job.conversation, job.responseId, owner, index);
    for (const event of job.news) this.#news.push({ ...event, owner, responseId: job.responseId });
    return outcome;
  }

  #advance(job: Extract<WriteJob, { type: "advance" }>): WriteOutcome {
    const outcome = addEvents(this.find(job.responseId), job.events);
    if (outcome === "written")
      this.#updates.push({ type: "advance", responseId: job.responseId, snapshot: job.snapshot });
    return outcome;
  }

  #release(job: ReleaseJob): WriteOutcome {
    const run = this.find(job.responseId);
    if (run === null || run.state !== "live") return "unchanged";
    run.state = "released";
    this.#updates.push(job);
    return "written";
  }

  #delete(job: Extract<WriteJob, { type: "delete" }>, index: number): WriteOutcome {
    this.#deletions.push({ job: index, responseId: job.responseId, owner: job.owner });
    const run = this.find(job.responseId);
    if (run !== null && isSameOwner(run.before.owner, job.owner)) run.state = "deleted";
    return "unchanged"; // Replaced if the database finds something to delete.
  }

  #endInConversation(end: ConversationEnd, responseId: string, owner: Owner, job: number): void {
    this.#conversations.push({ job, owner, conversationId: end.conversationId, step: endStep(end, responseId) });
  }

  #begin(responseId: string, before: UnfinishedRun, isNew: boolean): RunDraft {
    const run: RunDraft = { before, isNew, events: [], nextNumber: before.tail.nextNumber, state: "live" };
    this.#runs.set(responseId, run);
    return run;
  }

  #addItems(responseId: string, owner: Owner, direction: ItemDirection, items: readonly ItemText[]): void {
    for (const [position, { id, body }] of items.entries()) {
      this.#items.push({
        id,
        response_id: responseId,
        organization: owner.organization,
        project: owner.project,
        direction,
        position,
        body: wholeText(body),
      });
    }
  }
}

/** Adds all events or none. */
function addEvents(run: RunDraft | null, events: readonly EventBlock[]): WriteOutcome {
  if (run === null || run.state !== "live") return "unchanged";
  let { nextNumber } = run;
  for (const { firstNumber, lastNumber } of events) {
    if (firstNumber !== nextNumber) return "out_of_order";
    nextNumber = lastNumber + 1;
  }
  run.events.push(...events);
  run.nextNumber = nextNumber;
  return "written";
}

function isSameOwner(one: Owner, other: Owner): boolean {
  return one.organization === other.organization && one.project === other.project;
}
