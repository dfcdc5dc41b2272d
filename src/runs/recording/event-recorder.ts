import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import { Numbering } from "../numbering.ts";
import type { ClosedRun, EventLog, OpenedRun } from "../ports/event-log.ts";
import { EventTimes } from "../ports/event-times.ts";
import { packDeltas, type WaitingEvent } from "../ports/packed-deltas.ts";
import type { LiveFeed } from "../reading/live-feed.ts";
import type { RecordedEvent } from "../recorded-event.ts";
import type { UnnumberedEvent } from "../wire-event.ts";
import { makeLongEnd } from "./long-end.ts";

/** How many characters of events may wait for a commit before `record` waits. */
const UNSTORED_CHARACTERS_MAX = 256 * 1024;

/** Numbers the events of one run, stores them, then shows them. No other code assigns a `sequence_number`. */
export interface EventRecorder {
  /** Whether the run is stored once opened, so that another worker could continue it. */
  readonly isStored: boolean;
  /** The times of its events so far; null if nobody will need them. */
  readonly times: EventTimes | null;
  /** Resolves when the events are stored and shown. Before, only `record` may be called. */
  open(run: OpenedRun, events: readonly UnnumberedEvent[]): Promise<void>;
  /** Records events and replaces the stored snapshot; the run continues. */
  advance(events: readonly UnnumberedEvent[], response: Response): Promise<void>;
  /**
   * Takes the events at once. The promise resolves when there is room for more, not when they are stored; it is
   * undefined if there is room now.
   */
  record(events: readonly UnnumberedEvent[]): Promise<void> | undefined;
  /**
   * Resolves when everything, the end included, is stored and shown. If storing fails, rejects and does not show
   * `events`.
   */
  close(events: readonly UnnumberedEvent[], end: ClosedRun): Promise<void>;
  /** Resolves once no append is under way or waits for the store, whatever became of it. */
  settle(): Promise<void>;
  /** Shows an end that could not be stored, so that live readers still get one. */
  showUnstoredEnd(events: readonly UnnumberedEvent[]): void;
  /** Closes the readers' streams without an end: another worker continues the run. */
  closeFeed(): void;
}

export interface RecorderParts {
  readonly responseId: string;
  /** Null if the run is not stored. */
  readonly log: EventLog | null;
  readonly feed: LiveFeed;
  /** Greater than 0 if an earlier worker recorded events of this run. */
  readonly nextNumber: number;
}

export function createRecorder({ responseId, log, feed, nextNumber }: RecorderParts): EventRecorder {
  if (log === null) return new UnstoredRecorder(feed);
  return new StoredRecorder({ responseId, log, feed, nextNumber });
}

export interface StoredRecorderParts extends RecorderParts {
  readonly log: EventLog;
}

/** For runs that are not stored. The run waits for slow readers, because they cannot catch up from a log. */
class UnstoredRecorder implements EventRecorder {
  readonly isStored = false;
  readonly times = null;
  readonly #feed: LiveFeed;
  readonly #numbering = new Numbering(0);

  constructor(feed: LiveFeed) {
    this.#feed = feed;
  }

  open(_run: OpenedRun, events: readonly UnnumberedEvent[]): Promise<void> {
    return this.record(events);
  }

  record(events: readonly UnnumberedEvent[]): Promise<void> {
    this.#feed.publish(this.#numbering.number(events));
    return this.#feed.waitForRoom();
  }

  advance(events: readonly UnnumberedEvent[]): Promise<void> {
    return this.record(events);
  }

  async close(events: readonly UnnumberedEvent[]): Promise<void> {
    this.showUnstoredEnd(events);
  }

  async settle(): Promise<void> {}

  showUnstoredEnd(events: readonly UnnumberedEvent[]): void {
    this.#feed.publish(this.#numbering.number(events));
    this.#feed.end();
  }

  closeFeed(): void {
    this.#feed.end();
  }
}

/** For stored runs. Events that arrive during a commit share the next one. */
export class StoredRecorder implements EventRecorder {
  readonly isStored = true;
  readonly #responseId: string;
  readonly #log: EventLog;
  readonly #feed: LiveFeed;
  readonly #numbering: Numbering;
  readonly times: EventTimes;
  #waiting: WaitingEvent[] = [];
  #waitingCharacters = 0;
  #opening: Promise<void> | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #busy = false;
  #failure: unknown = null;

  constructor(
    { responseId, log, feed, nextNumber }: StoredRecorderParts,
    times: EventTimes = EventTimes.ofRun(responseId),
  ) {
    this.times = times;
    this.#responseId = responseId;
    this.#log = log;
    this.#feed = feed;
    this.#numbering = new Numbering(nextNumber);
  }

  async open(run: OpenedRun, events: readonly UnnumberedEvent[]): Promise<void> {
    const numberedEvents = this.#number(events);
    this.#opening = this.#log.open(run, numberedEvents).then(() => this.#feed.publish(numberedEvents));
    await this.#opening;
    this.#opening = null;
  }

  record(events: readonly UnnumberedEvent[]): Promise<void> | undefined {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const packedEvents = packDeltas(this.#number(events));
    if (!this.#busy && this.#opening === null && this.#log.appendNow(this.#responseId, packedEvents)) {
      this.#feed.publish(packedEvents);
      return undefined;
    }
    for (const event of packedEvents) {
      this.#waiting.push(event);
      this.#waitingCharacters += event.size;
    }
    if (!this.#busy) this.#flushing = this.#flush();
    return this.#waitingCharacters > UNSTORED_CHARACTERS_MAX ? this.#flushing : undefined;
  }

  async advance(events: readonly UnnumberedEvent[], response: Response): Promise<void> {
    await this.#flushing;
    if (this.#failure !== null) throw this.#failure;
    this.times.noteBegin();
    const numberedEvents = this.#number(events);
    try {
      await this.#log.advance(this.#responseId, numberedEvents, response);
    } catch (failure) {
      this.#rewindTo(numberedEvents);
      throw failure;
    }
    this.#feed.publish(numberedEvents);
  }

  /**
   * Passes the waiting events and the end to the log together. Does not wait for the append in progress, so that both
   * can share a commit.
   */
  async close(events: readonly UnnumberedEvent[], end: ClosedRun): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    const numberedEvents = [...this.#waiting, ...this.#number(events)];
    this.#waiting = [];
    const making = makeLongEnd(numberedEvents, end);
    if (making !== undefined) await making;
    const storing = this.#log.close(this.#responseId, numberedEvents, { ...end, times: this.times.soFar() });
    const [, outcome] = await Promise.allSettled([this.#flushing, storing]);
    if (outcome.status === "rejected") {
      this.#rewindTo(numberedEvents);
      throw this.#failure ?? outcome.reason; // The first failure is the cause.
    }
    this.#feed.publish(numberedEvents);
    this.#feed.end();
  }

  settle(): Promise<void> {
    return this.#flushing;
  }

  showUnstoredEnd(events: readonly UnnumberedEvent[]): void {
    this.#feed.publish(this.#numbering.number(events));
    this.#feed.end();
  }

  closeFeed(): void {
    this.#feed.end();
  }

  async #flush(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const events = this.#waiting;
      this.#waiting = [];
      this.#waitingCharacters = 0;
      try {
        // Durable before visible: a replay never misses what a live reader saw.
        await this.#log.append(this.#responseId, events);
        if (this.#opening !== null) await this.#opening; // Its events are shown first.
      } catch (failure) {
        this.#failure = failure;
        this.#waiting = [];
        this.#rewindTo(events);
        break;
      }
      this.#feed.publish(events);
    }
    this.#busy = false;
  }

  #number(events: readonly UnnumberedEvent[]): readonly RecordedEvent[] {
    const numberedEvents = this.#numbering.number(events);
    const [first] = numberedEvents;
    if (first !== undefined) this.times.note(first.number, events);
    return numberedEvents;
  }

  #rewindTo(events: readonly WaitingEvent[]): void {
    const first = events[0];
    if (first !== undefined) this.#numbering.rewind(first.number);
  }
}
