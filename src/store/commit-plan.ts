import type { Insertable } from "kysely";
import { assertNever } from "../base/assert.ts";
import type { Owner, RecordedEvent } from "../runs/ports.ts";
import type { JournalEntry } from "./journal.ts";
import { emptyTail, extendTail, type RunTail } from "./run-tail.ts";
import type { EventChunksTable, ItemDirection, ItemsTable, ResponsesTable } from "./schema.ts";

/** One change asked of the database. Rows are made by who asks, so that a job which cannot be written fails alone. */
export type WriteJob =
  | {
      readonly type: "open";
      readonly responseId: string;
      readonly owner: Owner;
      readonly snapshot: Snapshot;
      readonly items: readonly ItemText[];
      readonly events: readonly RecordedEvent[];
    }
  | { readonly type: "append"; readonly responseId: string; readonly events: readonly RecordedEvent[] }
  | {
      readonly type: "close";
      readonly responseId: string;
      readonly snapshot: Snapshot;
      readonly items: readonly ItemText[];
      readonly events: readonly RecordedEvent[];
    }
  | { readonly type: "delete"; readonly responseId: string; readonly owner: Owner };

/** A response's columns, but for those that say which it is and whose. */
export type Snapshot = Pick<
  ResponsesTable,
  "status" | "model" | "previous_response_id" | "created_at" | "completed_at" | "body"
>;

export interface ItemText {
  readonly id: string;
  readonly body: string;
}

/** `unchanged`: the response is unknown, ended or deleted. `out_of_order`: the events do not follow the stored ones. */
export type WriteOutcome = "written" | "unchanged" | "out_of_order";

/** What is known of a run that has not ended. */
export interface LiveRun {
  readonly owner: Owner;
  readonly tail: RunTail;
}

/** What one commit writes, and what is known when it is done. */
export interface CommitPlan {
  readonly responses: readonly Insertable<ResponsesTable>[];
  readonly ends: readonly { readonly responseId: string; readonly snapshot: Snapshot }[];
  readonly items: readonly Insertable<ItemsTable>[];
  readonly chunks: readonly Insertable<EventChunksTable>[];
  readonly journal: readonly JournalEntry[];
  readonly deletions: readonly { readonly job: number; readonly responseId: string; readonly owner: Owner }[];
  readonly outcomes: readonly WriteOutcome[];
  /** The runs that changed; null for those that ended. */
  readonly runs: ReadonlyMap<string, LiveRun | null>;
}

/** What decides a plan besides its jobs. */
export interface CommitContext {
  readonly runs: ReadonlyMap<string, LiveRun>;
  /** Runs whose tail must become a chunk now, so that the journal can be cut. */
  readonly overdue: ReadonlySet<string>;
  /** Runs that turned out to have been ended by someone else. */
  readonly lost: ReadonlySet<string>;
}

/** Turns the jobs of one commit into rows. Pure. */
export function planCommit(jobs: readonly WriteJob[], context: CommitContext): CommitPlan {
  const draft = new CommitDraft(context);
  const outcomes = jobs.map((job, index) => draft.add(job, index));
  for (const responseId of context.overdue) draft.find(responseId);
  return { ...draft.rows(), outcomes };
}

interface RunDraft {
  readonly before: LiveRun;
  readonly events: RecordedEvent[];
  nextNumber: number;
  /** A deleted run leaves nothing to be written. */
  state: "live" | "ended" | "deleted";
}

class CommitDraft {
  readonly #context: CommitContext;
  readonly #runs = new Map<string, RunDraft>();
  readonly #responses: CommitPlan["responses"][number][] = [];
  readonly #ends: CommitPlan["ends"][number][] = [];
  readonly #items: CommitPlan["items"][number][] = [];
  readonly #deletions: CommitPlan["deletions"][number][] = [];

  constructor(context: CommitContext) {
    this.#context = context;
  }

  add(job: WriteJob, index: number): WriteOutcome {
    switch (job.type) {
      case "open":
        this.#responses.push({
          id: job.responseId,
          organization: job.owner.organization,
          project: job.owner.project,
          ...job.snapshot,
          version: 1,
        });
        this.#addItems(job.responseId, job.owner, "input", job.items);
        return addEvents(this.#begin(job.responseId, { owner: job.owner, tail: emptyTail(0) }), job.events);
      case "append":
        return addEvents(this.find(job.responseId), job.events);
      case "close":
        return this.#close(job);
      case "delete":
        return this.#delete(job, index);
      default:
        return assertNever(job);
    }
  }

  /** The run as it is after the jobs so far; null unless it is live or ended in this very commit. */
  find(responseId: string): RunDraft | null {
    const run = this.#runs.get(responseId);
    if (run !== undefined) return run;
    const known = this.#context.runs.get(responseId);
    return known === undefined || this.#context.lost.has(responseId) ? null : this.#begin(responseId, known);
  }

  rows(): Omit<CommitPlan, "outcomes"> {
    const chunks: CommitPlan["chunks"][number][] = [];
    const journal: JournalEntry[] = [];
    const runs = new Map<string, LiveRun | null>();
    for (const [responseId, { before, events, state }] of this.#runs) {
      if (state !== "live") runs.set(responseId, null);
      if (state === "deleted") continue;
      const step = extendTail(before.tail, events, state === "ended" || this.#context.overdue.has(responseId));
      for (const { firstNumber, lastNumber, body } of step.chunks) {
        chunks.push({ response_id: responseId, first_number: firstNumber, last_number: lastNumber, body });
      }
      if (step.journaled !== null) journal.push({ responseId, ...step.journaled });
      if (state === "live") runs.set(responseId, { owner: before.owner, tail: step.tail });
    }
    return {
      responses: this.#responses,
      ends: this.#ends,
      items: this.#items,
      deletions: this.#deletions,
      chunks,
      journal,
      runs,
    };
  }

  #close(job: Extract<WriteJob, { type: "close" }>): WriteOutcome {
    const run = this.find(job.responseId);
    const outcome = addEvents(run, job.events);
    if (run === null || outcome !== "written") return outcome;
    run.state = "ended";
    this.#ends.push({ responseId: job.responseId, snapshot: job.snapshot });
    this.#addItems(job.responseId, run.before.owner, "output", job.items);
    return outcome;
  }

  #delete(job: Extract<WriteJob, { type: "delete" }>, index: number): WriteOutcome {
    this.#deletions.push({ job: index, responseId: job.responseId, owner: job.owner });
    const run = this.find(job.responseId);
    if (run !== null && isSameOwner(run.before.owner, job.owner)) run.state = "deleted";
    return "unchanged"; // Until the database has said that there was something to delete.
  }

  #begin(responseId: string, before: LiveRun): RunDraft {
    const run: RunDraft = { before, events: [], nextNumber: before.tail.nextNumber, state: "live" };
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
        body,
      });
    }
  }
}

/** Takes all of these events or none. */
function addEvents(run: RunDraft | null, events: readonly RecordedEvent[]): WriteOutcome {
  if (run === null || run.state !== "live") return "unchanged";
  const { nextNumber } = run;
  if (events.some((event, index) => event.number !== nextNumber + index)) return "out_of_order";
  for (const event of events) run.events.push(event);
  run.nextNumber += events.length;
  return "written";
}

function isSameOwner(one: Owner, other: Owner): boolean {
  return one.organization === other.organization && one.project === other.project;
}
