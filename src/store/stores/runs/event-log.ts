import { assert } from "@antiphon/base/assert.ts";
import { jsonOf } from "@antiphon/base/json/json-text.ts";
import { isSmall } from "@antiphon/base/json/write-json.ts";
import type { Response, ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import { type Kysely, type SqlBool, sql } from "kysely";
import type { ClosedRun, EventLog, OpenedRun } from "../../../runs/ports/event-log.ts";
import type { WaitingEvent } from "../../../runs/ports/packed-deltas.ts";
import { RunLost } from "../../../runs/ports/store-faults.ts";
import type { RecordedEvent } from "../../../runs/recorded-event.ts";
import type { Database } from "../../database/schema.ts";
import { isId } from "../../database/time-first.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { packEvents } from "../../rows/events/event-block.ts";
import type { ConversationEnd } from "../../rows/items/conversation-changes.ts";
import { type ItemText, itemTextOf, itemTextsOf } from "../../rows/items/item-text.ts";
import { readStoredEvents } from "../../rows/runs/read-stored-events.ts";
import type { Snapshot } from "../../rows/runs/response-columns.ts";
import { endingOf, originOf } from "../../rows/runs/summary-columns.ts";
import type { PatientJob, RedoJob, WriteJob, WriteOutcome } from "../../rows/runs/write-job.ts";
import { eventsOfEnd } from "../../rows/webhook-rows.ts";
import type { PatientWrites } from "./patient-writes.ts";
import type { RunCommits } from "./run-commits.ts";

/** The approximate maximum size of the notes of a run. */
const NOTES_CHARACTERS_MAX = 16 * 1024;

/**
 * The event log in the database. Writing to a run that was deleted, has ended, or belongs to another worker throws
 * `RunLost`.
 */
export class StoredEventLog implements EventLog {
  readonly #db: Kysely<Database>;
  readonly #commits: RunCommits;
  readonly #calls: Pick<DatabaseCalls, "findTail">;
  readonly #patient: PatientWrites;
  /** The runs with long inputs that are being opened. Their later events wait until the opening is in the queue. */
  readonly #preparing = new Map<string, Promise<void>>();

  constructor(
    db: Kysely<Database>,
    commits: RunCommits,
    calls: Pick<DatabaseCalls, "findTail">,
    patient: PatientWrites,
  ) {
    this.#patient = patient;
    this.#db = db;
    this.#commits = commits;
    this.#calls = calls;
  }

  async open(run: OpenedRun, events: readonly RecordedEvent[]): Promise<void> {
    const { inputItems } = run;
    if (isSmall(inputItems)) {
      // Serialized without waiting for a turn.
      const job = openJob(run, inputItems.map(itemTextOf), events);
      // Only of a stream nothing else depends on the outcome: the commit checks the lock on a conversation, and the
      // replies of others say whether they are stored.
      if (job.streamed && job.conversationId === null && job.steers === null && this.#commits.addNow(job)) return;
      return requireWritten(await this.#commits.add(job, "urgent"));
    }
    const { stored: storing } = await this.#prepare(run, events);
    requireWritten(await storing);
  }

  appendNow(responseId: string, events: readonly WaitingEvent[]): boolean {
    if (this.#preparing.has(responseId) || this.#patient.isWaiting(responseId)) return false;
    return this.#commits.addNow({ type: "append", responseId, events: packEvents(events) });
  }

  async append(responseId: string, events: readonly WaitingEvent[]): Promise<void> {
    const preparation = this.#preparing.get(responseId);
    if (preparation !== undefined) await preparation;
    const job: RedoJob = { type: "append", responseId, events: packEvents(events) };
    requireWritten(await this.#patient.write(responseId, () => this.#commits.addSoon(job)));
  }

  async advance(responseId: string, events: readonly RecordedEvent[], response: Response): Promise<void> {
    const job: PatientJob = { type: "advance", responseId, snapshot: snapshotOf(response), events: packEvents(events) };
    await this.#goOn(job);
  }

  async close(responseId: string, events: readonly WaitingEvent[], end: ClosedRun): Promise<void> {
    // Before the end, so that everyone who sees the end finds them.
    for (const note of end.notes ?? []) await this.addNote(responseId, note);
    const job: PatientJob = {
      type: "close",
      responseId,
      snapshot: snapshotOf(end.response),
      ending: endingOf(end),
      items: end.outputItems.map(itemTextOf),
      events: packEvents(events),
      conversation: endInConversation(end.response),
      news: eventsOfEnd(end.response),
    };
    await this.#goOn(job);
  }

  async storeWhole(run: OpenedRun, events: readonly RecordedEvent[], end: ClosedRun): Promise<void> {
    const { owner, inputItems } = run;
    const job: WriteJob = {
      type: "whole",
      responseId: end.response.id,
      owner,
      claimedBy: run.claimedBy ?? null,
      snapshot: snapshotOf(end.response),
      origin: originOf(run, end.notes),
      ending: endingOf(end),
      streamed: run.streamed ?? false,
      conversation: endInConversation(end.response),
      steers: run.steers ?? null,
      inputItems: isSmall(inputItems) ? inputItems.map(itemTextOf) : await itemTextsOf(inputItems),
      outputItems: end.outputItems.map(itemTextOf),
      events: packEvents(events, end.response),
      news: eventsOfEnd(end.response),
    };
    requireWritten(await this.#commits.add(job, "urgent"));
  }

  async addNote(responseId: string, note: ResponseNote): Promise<void> {
    const json = JSON.stringify(note);
    await this.#patient.write(responseId, () => this.#storeNote(responseId, json));
  }

  /** If its reply is lost, a note may be stored twice. */
  async #storeNote(responseId: string, json: string): Promise<"written"> {
    await this.#db
      .updateTable("responses")
      .set({
        notes: sql<string>`case when notes is null then ${`[${json}]`}
          else substr(notes, 1, length(notes) - 1) || ${`,${json}]`} end`,
      })
      .where(isId("responses.id", responseId))
      .where(sql<SqlBool>`(notes is null or length(notes) < ${NOTES_CHARACTERS_MAX})`)
      .execute();
    return "written";
  }

  /** Continues a stored run. */
  async #goOn(job: PatientJob): Promise<void> {
    requireWritten(await this.#patient.write(job.responseId, () => this.#commits.add(job, "urgent")));
  }

  /** Resolves once the opening of a run with long inputs is in the queue, with the promise of its commit. */
  async #prepare(run: OpenedRun, events: readonly RecordedEvent[]) {
    const { id } = run.response;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#preparing.set(id, promise);
    try {
      const job = openJob(run, await itemTextsOf(run.inputItems), events);
      return { stored: this.#commits.add(job, "urgent") };
    } finally {
      this.#preparing.delete(id);
      resolve();
    }
  }

  async *read(responseId: string, after: number): AsyncGenerator<readonly RecordedEvent[], void> {
    const tail = await this.#calls.findTail(responseId);
    yield* readStoredEvents(this.#db, responseId, after, tail);
  }
}

function openJob(
  run: OpenedRun,
  items: readonly ItemText[],
  events: readonly RecordedEvent[],
): Extract<RedoJob, { readonly type: "open" }> {
  const { owner, response } = run;
  return {
    type: "open",
    responseId: response.id,
    owner,
    claimedBy: run.claimedBy ?? null,
    snapshot: snapshotOf(response),
    origin: originOf(run),
    task: run.task ?? null,
    streamed: run.streamed ?? false,
    conversationId: response.conversation?.id ?? null,
    steers: run.steers ?? null,
    items,
    events: packEvents(events),
  };
}

function snapshotOf(response: Response): Snapshot {
  return {
    status: response.status,
    model: response.model,
    previous_response_id: response.previous_response_id,
    created_at: response.created_at,
    completed_at: response.completed_at,
    body: jsonOf(response),
  };
}

/** Only a finished answer is added to the conversation, together with its input. */
function endInConversation({ conversation, status }: Response): ConversationEnd | null {
  if (conversation === undefined) return null;
  return { conversationId: conversation.id, addsItems: status === "completed" || status === "incomplete" };
}

function requireWritten(outcome: WriteOutcome): void {
  assert(outcome !== "out_of_order", "the events of a run are stored in order and without gaps");
  if (outcome === "unchanged") throw new RunLost("nothing more can be stored of this run");
}
