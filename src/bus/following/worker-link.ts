import type { RunPlaces } from "../../runs/reading/neighbours.ts";
import { readEventLines } from "../../store/rows/events/event-block.ts";
import type { RunUpdates, UpdateItem } from "../bus-message.ts";
import type { FollowedRun } from "./followed-run.ts";

/** A worker that sends nothing for this long, in milliseconds, is followed by polling the database. */
const SILENT_MS = 1_000;
/** The shortest time between two polls of a silent worker's events, in milliseconds. */
const LOOK_EVERY_MS = 500;
/** An unanswered request is repeated after this time, in milliseconds. */
const ASK_AGAIN_MS = 1_000;
/** The interval of renewing subscriptions at a worker, in milliseconds. A third of their lifetime. */
const RENEW_MS = 10_000;
/** The maximum runs per poll. */
const LOOK_RUNS_MAX = 200;

export interface Follower {
  readonly places: RunPlaces;
  now(): number;
  /** Subscribes to these runs at the worker. */
  ask(worker: number, runs: readonly FollowedRun[]): void;
  /** Called when the worker is done with a run, or another one makes it. */
  onLeft(run: FollowedRun): void;
  noteAnswer(ms: number): void;
  caughtUp(reason: "missed" | "silent"): void;
  onFault(fault: unknown): void;
}

/** The runs of one worker with subscribers here, and the state of its messages. */
export class WorkerLink {
  readonly worker: number;
  readonly #follower: Follower;
  readonly #runs = new Map<string, FollowedRun>();
  readonly #toAsk = new Set<FollowedRun>();
  #series: string | null = null;
  #number = -1;
  #heardAt: number;
  #renewedAt: number;
  /** The journal position after the last poll. */
  #position = -1;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  #hasMissed = false;

  constructor(worker: number, follower: Follower) {
    this.worker = worker;
    this.#follower = follower;
    this.#heardAt = follower.now();
    this.#renewedAt = follower.now();
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Whether it is followed by polling, because it sends nothing. */
  get isSilent(): boolean {
    return this.#follower.now() - this.#heardAt >= SILENT_MS;
  }

  add(run: FollowedRun): void {
    if (this.#runs.size === 0) this.#begin();
    this.#runs.set(run.id, run);
    this.ask(run);
  }

  remove(run: FollowedRun): void {
    this.#runs.delete(run.id);
    this.#toAsk.delete(run);
  }

  /** Requests this run together with the others of this turn. */
  ask(run: FollowedRun): void {
    if (this.#toAsk.size === 0) queueMicrotask(() => this.#askAll());
    this.#toAsk.add(run);
  }

  hear(updates: RunUpdates): void {
    const now = this.#follower.now();
    const isSame = updates.series === this.#series;
    if (isSame && updates.number <= this.#number) return; // A duplicate, or late.
    this.#heardAt = now;
    const expectedNumber = isSame ? this.#number + 1 : 0;
    this.#series = updates.series;
    this.#number = updates.number;
    if (updates.echo !== null) this.#follower.noteAnswer(now - updates.echo);
    let isMissing = updates.number > expectedNumber;
    for (const item of updates.items) isMissing = !this.#takes(item) || isMissing;
    if (isMissing) this.#lookForMissed();
  }

  /** Call a few times per second. */
  tick(): void {
    if (this.#runs.size === 0) return;
    const now = this.#follower.now();
    const isDue = now - this.#renewedAt >= RENEW_MS;
    if (isDue) this.#renewedAt = now;
    let isUnanswered = false;
    for (const run of this.#runs.values()) {
      const isLate = run.askedAt !== null && now - run.askedAt >= ASK_AGAIN_MS;
      isUnanswered ||= isLate;
      if (isDue || isLate) this.ask(run);
    }
    if ((isUnanswered || this.isSilent) && now - this.#lookedAt >= LOOK_EVERY_MS) void this.#look("silent");
  }

  /** No messages were expected while there was no subscription. */
  #begin(): void {
    this.#heardAt = this.#follower.now();
    this.#renewedAt = this.#heardAt;
    this.#series = null;
    this.#number = -1;
  }

  #askAll(): void {
    const runs = [...this.#toAsk].filter((run) => this.#runs.get(run.id) === run);
    this.#toAsk.clear();
    if (runs.length === 0) return;
    const now = this.#follower.now();
    for (const run of runs) run.askedAt = now;
    this.#follower.ask(this.worker, runs);
  }

  /** Returns false if the item is invalid, which no server of this program causes. */
  #takes(item: UpdateItem): boolean {
    try {
      this.#take(item);
      return true;
    } catch (fault) {
      this.#follower.onFault(fault);
      return false;
    }
  }

  #take(item: UpdateItem): void {
    const run = this.#runs.get(item.id);
    if (run === undefined) return;
    switch (item.type) {
      case "events":
        return run.show(readEventLines(item.lines, item.first, item.first - 1, ""));
      case "watched":
        run.askedAt = null;
        return item.last === -1 ? undefined : run.showLogged(item.last);
      case "logged":
        return run.showLogged(item.last);
      case "left":
        return this.#leave(run);
    }
  }

  #leave(run: FollowedRun): void {
    this.remove(run);
    this.#follower.onLeft(run);
  }

  /** Starts at once, but only one poll at a time. */
  #lookForMissed(): void {
    if (this.#isLooking) this.#hasMissed = true;
    else void this.#look("missed");
  }

  /** Never rejects. Publishes the events that the worker has stored since the last poll. */
  async #look(reason: "missed" | "silent"): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#lookedAt = this.#follower.now();
    this.#follower.caughtUp(reason);
    try {
      do {
        this.#hasMissed = false;
        await this.#follower.places.settle(); // What was missed may be shown and not stored yet.
        await this.#readJournal();
        await this.#readPlaces();
      } while (this.#hasMissed);
    } catch (fault) {
      this.#follower.onFault(fault); // The next poll retries.
    }
    this.#isLooking = false;
  }

  async #readJournal(): Promise<void> {
    const ids = new Set([...this.#runs.values()].filter((run) => run.after !== null).map(({ id }) => id));
    if (ids.size === 0) return;
    for await (const page of this.#follower.places.readJournal(this.worker, this.#position, ids)) {
      this.#position = page.position;
      for (const { responseId, events } of page.runs) this.#runs.get(responseId)?.show(events);
    }
  }

  /** Events of a run that are in chunks have left the journal, or never were in it. */
  async #readPlaces(): Promise<void> {
    const runs = [...this.#runs.values()];
    for (let start = 0; start < runs.length; start += LOOK_RUNS_MAX) {
      const some = runs.slice(start, start + LOOK_RUNS_MAX);
      const placeList = await this.#follower.places.find(some.map(({ id }) => id));
      const places = new Map(placeList.map((place) => [place.responseId, place]));
      for (const run of some) {
        const place = places.get(run.id);
        if (place === undefined || place.isOver || place.worker !== this.worker) this.#leave(run);
        else run.showLogged(place.chunkedTo);
      }
    }
  }
}
