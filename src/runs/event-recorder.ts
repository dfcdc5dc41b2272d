import type { Response, ResponseStreamEvent } from "../../generated/responses-api/types.ts";
import { rememberJson } from "../base/json/json-text.ts";
import type { ClosedRun, EventLog, OpenedRun, RecordedEvent } from "./ports.ts";
import type { LiveFeed } from "./reading/live-feed.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

/** How much JSON may wait for its commit before the run waits too. */
export const UNSTORED_CHARACTERS_MAX = 1024 * 1024;

/** Numbers events, has them stored, then shows them: the only place a sequence_number is made. */
export interface EventRecorder {
  open(run: OpenedRun, events: readonly UnnumberedEvent[]): Promise<void>;
  /** Records, and has the stored snapshot replaced, of a run that goes on. */
  advance(events: readonly UnnumberedEvent[], response: Response): Promise<void>;
  /** Accepts events at once; the promise resolves when there is room for more, not when they are stored. */
  record(events: readonly UnnumberedEvent[]): Promise<void>;
  /**
   * Resolves when everything, the end included, is stored and shown. Rejects, having shown nothing, if it cannot be
   * stored.
   */
  close(events: readonly UnnumberedEvent[], end: ClosedRun): Promise<void>;
  /** Shows an end that cannot be stored, so that live readers do get one. */
  abandon(events: readonly UnnumberedEvent[]): void;
  /** Lets readers go without an end: what follows is another worker's. */
  leave(): void;
}

export interface RecorderParts {
  readonly responseId: string;
  /** Null: the run is not stored. */
  readonly log: EventLog | null;
  readonly feed: LiveFeed;
  /** Greater than 0 where an earlier worker has recorded events of this run. */
  readonly nextNumber: number;
}

export function createRecorder({ responseId, log, feed, nextNumber }: RecorderParts): EventRecorder {
  return log === null ? new PassingRecorder(feed) : new StoringRecorder(responseId, log, feed, nextNumber);
}

class Numbering {
  #next: number;

  constructor(next: number) {
    this.#next = next;
  }

  /** Takes numbers back that nobody has seen, so that the ones shown stay dense. */
  rewind(to: number): void {
    this.#next = Math.min(this.#next, to);
  }

  number(events: readonly UnnumberedEvent[]): readonly RecordedEvent[] {
    return events.map((unnumbered) => {
      const event = numberEvent(unnumbered, this.#next++);
      const json = JSON.stringify(event);
      return { number: event.sequence_number, event: rememberJson(event, json), json };
    });
  }
}

/** Gives an event its number. The event is its maker's last use of it, so it is completed in place. */
export function numberEvent(event: UnnumberedEvent, number: number): ResponseStreamEvent {
  return Object.assign(event, { sequence_number: number });
}

/** For runs that are not stored: nothing outlives the reader, and the run waits for it. */
class PassingRecorder implements EventRecorder {
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
    return this.#feed.roomForMore();
  }

  advance(events: readonly UnnumberedEvent[]): Promise<void> {
    return this.record(events);
  }

  async close(events: readonly UnnumberedEvent[]): Promise<void> {
    this.abandon(events);
  }

  abandon(events: readonly UnnumberedEvent[]): void {
    this.#feed.publish(this.#numbering.number(events));
    this.#feed.end();
  }

  leave(): void {
    this.#feed.end();
  }
}

/** For stored runs. Events made while a commit is under way share the next one. */
class StoringRecorder implements EventRecorder {
  readonly #responseId: string;
  readonly #log: EventLog;
  readonly #feed: LiveFeed;
  readonly #numbering: Numbering;
  #waiting: RecordedEvent[] = [];
  #waitingCharacters = 0;
  #flushing: Promise<void> = Promise.resolve();
  #busy = false;
  #failure: unknown = null;

  constructor(responseId: string, log: EventLog, feed: LiveFeed, nextNumber: number) {
    this.#responseId = responseId;
    this.#log = log;
    this.#feed = feed;
    this.#numbering = new Numbering(nextNumber);
  }

  async open(run: OpenedRun, events: readonly UnnumberedEvent[]): Promise<void> {
    const numbered = this.#numbering.number(events);
    await this.#log.open(run, numbered);
    this.#feed.publish(numbered);
  }

  async record(events: readonly UnnumberedEvent[]): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    for (const event of this.#numbering.number(events)) {
      this.#waiting.push(event);
      this.#waitingCharacters += event.json.length;
    }
    if (!this.#busy) this.#flushing = this.#flush();
    if (this.#waitingCharacters > UNSTORED_CHARACTERS_MAX) await this.#flushing;
  }

  async advance(events: readonly UnnumberedEvent[], response: Response): Promise<void> {
    await this.#flushing;
    if (this.#failure !== null) throw this.#failure;
    const numbered = this.#numbering.number(events);
    try {
      await this.#log.advance(this.#responseId, numbered, response);
    } catch (failure) {
      this.#rewindTo(numbered);
      throw failure;
    }
    this.#feed.publish(numbered);
  }

  /**
   * What still waits goes along, and the end takes its place behind what is under way, so that both can share a commit.
   */
  async close(events: readonly UnnumberedEvent[], end: ClosedRun): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    const numbered = [...this.#waiting, ...this.#numbering.number(events)];
    this.#waiting = [];
    const stored = this.#log.close(this.#responseId, numbered, end);
    const [, outcome] = await Promise.allSettled([this.#flushing, stored]);
    if (outcome.status === "rejected") {
      this.#rewindTo(numbered);
      throw this.#failure ?? outcome.reason; // What failed first says why.
    }
    this.#feed.publish(numbered);
    this.#feed.end();
  }

  abandon(events: readonly UnnumberedEvent[]): void {
    this.#feed.publish(this.#numbering.number(events));
    this.#feed.end();
  }

  leave(): void {
    this.#feed.end();
  }

  async #flush(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const events = this.#waiting;
      this.#waiting = [];
      this.#waitingCharacters = 0;
      try {
        // Durable before visible: a replay can never miss what a live reader saw.
        await this.#log.append(this.#responseId, events);
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

  #rewindTo(events: readonly RecordedEvent[]): void {
    const first = events[0];
    if (first !== undefined) this.#numbering.rewind(first.number);
  }
}
