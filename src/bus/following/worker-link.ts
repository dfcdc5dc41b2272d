import type { RunPlaces } from "../../runs/reading/neighbours.ts";
import { readEventLines } from "../../store/rows/events/event-block.ts";
import type { News, NewsItem } from "../bus-message.ts";
import type { FollowedRun } from "./followed-run.ts";

/** A worker that tells nothing for this long, in milliseconds, is followed in the database. */
const SILENT_MS = 1_000;
/** The least time between two looks at what a silent worker has stored, in milliseconds. */
const LOOK_EVERY_MS = 500;
/** A question that was not answered is asked again after this time, in milliseconds. */
const ASK_AGAIN_MS = 1_000;
/** How often a worker is told that its runs are still watched, in milliseconds. Three times before it forgets. */
const RENEW_MS = 10_000;
/** How many runs one look asks the database for at a time. */
const LOOK_RUNS_MAX = 200;

export interface Follower {
  readonly places: RunPlaces;
  now(): number;
  /** Asks the worker to tell of these runs. */
  ask(worker: number, runs: readonly FollowedRun[]): void;
  /** The worker is done with a run, or another one makes it. */
  onLeft(run: FollowedRun): void;
  answered(ms: number): void;
  caughtUp(reason: "missed" | "silent"): void;
  onFault(fault: unknown): void;
}

/** The runs of one worker that are watched here, and how well it is heard. */
export class WorkerLink {
  readonly worker: number;
  readonly #follower: Follower;
  readonly #runs = new Map<string, FollowedRun>();
  readonly #toAsk = new Set<FollowedRun>();
  #series: string | null = null;
  #number = -1;
  #heardAt: number;
  #renewedAt: number;
  /** Where the last look at its journal ended. */
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

  /** Whether it is followed in the database, since it tells nothing. */
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

  /** Asks for this run together with the others of this turn. */
  ask(run: FollowedRun): void {
    if (this.#toAsk.size === 0) queueMicrotask(() => this.#askAll());
    this.#toAsk.add(run);
  }

  hear(news: News): void {
    const now = this.#follower.now();
    const isSame = news.series === this.#series;
    if (isSame && news.number <= this.#number) return; // Doubled or late.
    this.#heardAt = now;
    const expected = isSame ? this.#number + 1 : 0;
    this.#series = news.series;
    this.#number = news.number;
    if (news.echo !== null) this.#follower.answered(now - news.echo);
    let isMissing = news.number > expected;
    for (const item of news.items) isMissing = !this.#takes(item) || isMissing;
    if (isMissing) this.#lookForMissed();
  }

  /** To be called some times a second. */
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

  /** Nothing was to be heard while nothing was watched. */
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

  /** Returns false if the item cannot be read, which no server of this program causes. */
  #takes(item: NewsItem): boolean {
    try {
      this.#take(item);
      return true;
    } catch (fault) {
      this.#follower.onFault(fault);
      return false;
    }
  }

  #take(item: NewsItem): void {
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

  /** At once, but only one look at a time. */
  #lookForMissed(): void {
    if (this.#isLooking) this.#hasMissed = true;
    else void this.#look("missed");
  }

  /** Never rejects. Shows what the worker has stored since the last look. */
  async #look(reason: "missed" | "silent"): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#lookedAt = this.#follower.now();
    this.#follower.caughtUp(reason);
    try {
      do {
        this.#hasMissed = false;
        await this.#readJournal();
        await this.#readPlaces();
      } while (this.#hasMissed);
    } catch (fault) {
      this.#follower.onFault(fault); // The next look tries again.
    }
    this.#isLooking = false;
  }

  async #readJournal(): Promise<void> {
    const wanted = new Set([...this.#runs.values()].filter((run) => run.wanted !== null).map(({ id }) => id));
    if (wanted.size === 0) return;
    for await (const page of this.#follower.places.readJournal(this.worker, this.#position, wanted)) {
      this.#position = page.position;
      for (const { responseId, events } of page.runs) this.#runs.get(responseId)?.show(events);
    }
  }

  /** Events of a run that are in chunks are not in the journal any more, or never were. */
  async #readPlaces(): Promise<void> {
    const runs = [...this.#runs.values()];
    for (let start = 0; start < runs.length; start += LOOK_RUNS_MAX) {
      const some = runs.slice(start, start + LOOK_RUNS_MAX);
      const found = await this.#follower.places.find(some.map(({ id }) => id));
      const places = new Map(found.map((place) => [place.responseId, place]));
      for (const run of some) {
        const place = places.get(run.id);
        if (place === undefined || place.isOver || place.worker !== this.worker) this.#leave(run);
        else run.showLogged(place.chunkedTo);
      }
    }
  }
}
