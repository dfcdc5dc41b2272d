import { assert } from "@antiphon/base/assert.ts";
import { jsonOf, rememberJson } from "@antiphon/base/json/json-text.ts";
import { Numbering } from "../numbering.ts";
import type { ClosedRun, EventLog, OpenedRun } from "../ports/event-log.ts";
import { EventTimes } from "../ports/event-times.ts";
import type { LiveFeed } from "../reading/live-feed.ts";
import type { UnnumberedEvent } from "../wire-event.ts";
import { type EventRecorder, StoredRecorder } from "./event-recorder.ts";
import { makeLongEnd } from "./long-end.ts";

/** The maximum of buffered characters before a run is stored. The batch that reaches it is buffered as well. */
export const KEPT_CHARACTERS_MAX = 64 * 1024;
/** The size of an event besides its delta. */
const EVENT_CHARACTERS = 64;

/**
 * For stored runs whose events nobody reads before their end. Buffers the events, and stores the whole run when it is
 * closed. If the run takes too long, `storeNow` stores it early, and it is then recorded like any other run.
 */
export class LateRecorder implements EventRecorder {
  readonly #responseId: string;
  readonly #log: EventLog;
  readonly #feed: LiveFeed;
  readonly times: EventTimes;
  /** Records the run after it was stored early. */
  #recorder: StoredRecorder | null = null;
  #run: OpenedRun | null = null;
  #events: UnnumberedEvent[] = [];
  #keptCharacters = 0;
  #storing: Promise<void> | null = null;
  #isStored = false;

  constructor(responseId: string, log: EventLog, feed: LiveFeed) {
    this.#responseId = responseId;
    this.#log = log;
    this.#feed = feed;
    this.times = EventTimes.ofRun(responseId);
  }

  get isStored(): boolean {
    return this.#isStored;
  }

  async open(run: OpenedRun, events: readonly UnnumberedEvent[]): Promise<void> {
    this.#run = run;
    this.#keep(events);
  }

  record(events: readonly UnnumberedEvent[]): Promise<void> | undefined {
    if (this.#recorder !== null) return this.#recorder.record(events);
    if (this.#storing !== null) return this.#storing.then(() => this.record(events));
    this.#keep(events);
    return this.#keptCharacters < KEPT_CHARACTERS_MAX ? undefined : this.storeNow();
  }

  /** Rejects if the run cannot be stored; every later call of `record`, `advance` and `close` then rejects as well. */
  storeNow(): Promise<void> {
    this.#storing ??= this.#openEarly();
    return this.#storing;
  }

  async advance(events: readonly UnnumberedEvent[], response: ClosedRun["response"]): Promise<void> {
    await this.storeNow();
    await this.#recorder?.advance(events, response);
  }

  async close(events: readonly UnnumberedEvent[], end: ClosedRun): Promise<void> {
    if (this.#storing === null) return await (this.#storing = this.#storeWhole(events, end));
    await this.#storing;
    await this.#recorder?.close(events, end);
  }

  async settle(): Promise<void> {
    await this.#recorder?.settle();
  }

  showUnstoredEnd(events: readonly UnnumberedEvent[]): void {
    this.#recorder?.showUnstoredEnd(events);
  }

  closeFeed(): void {
    this.#feed.end();
  }

  #keep(events: readonly UnnumberedEvent[]): void {
    this.times.note(this.#events.length, events);
    for (const event of events) {
      this.#events.push(event);
      this.#keptCharacters +=
        EVENT_CHARACTERS + ("delta" in event && typeof event.delta === "string" ? event.delta.length : 0);
    }
  }

  /** Returns the buffer and empties it. */
  #take(): { readonly run: OpenedRun | null; readonly events: UnnumberedEvent[] } {
    const batch = { run: this.#run, events: this.#events };
    this.#run = null;
    this.#events = [];
    return batch;
  }

  async #openEarly(): Promise<void> {
    const { run, events } = this.#take();
    assert(run !== null, "a run is opened before it is stored");
    const parts = { responseId: this.#responseId, log: this.#log, feed: this.#feed, nextNumber: 0 };
    const recorder = new StoredRecorder(parts, this.times);
    await recorder.open(run, events);
    this.#recorder = recorder;
    this.#isStored = true;
  }

  async #storeWhole(last: readonly UnnumberedEvent[], end: ClosedRun): Promise<void> {
    const { run, events } = this.#take();
    assert(run !== null, "a run is opened before it is closed");
    this.times.note(events.length, last);
    events.push(...last);
    const numberedEvents = new Numbering(0).number(events);
    const making = makeLongEnd(numberedEvents, end);
    if (making !== undefined) await making;
    rememberJson(end.response, jsonOf(end.response)); // Needed twice: for the store and for the reply.
    await this.#log.storeWhole(run, numberedEvents, { ...end, times: this.times.soFar() });
    this.#isStored = true;
    this.#feed.end();
  }
}

/** For runs that are not stored and whose events nobody reads. */
export class SilentRecorder implements EventRecorder {
  readonly isStored = false;
  readonly times = null;

  async open(): Promise<void> {}
  async advance(): Promise<void> {}
  async close(): Promise<void> {}
  async storeNow(): Promise<void> {}
  async settle(): Promise<void> {}
  record(): undefined {}
  showUnstoredEnd(): void {}
  closeFeed(): void {}
}
