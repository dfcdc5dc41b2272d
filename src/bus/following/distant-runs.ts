import type { Subscription } from "../../runs/index.ts";
import type { RunPlaces } from "../../runs/reading/neighbours.ts";
import type { RunUpdates } from "../bus-message.ts";
import { FollowedRun } from "./followed-run.ts";
import { type Follower, WorkerLink } from "./worker-link.ts";

/** The interval of polling the database for the workers of waiting runs, in milliseconds. */
const PLACE_EVERY_MS = 1_000;
/** The maximum runs per query. */
const PLACE_RUNS_MAX = 200;

export interface DistantRunsOptions {
  readonly places: RunPlaces;
  now(): number;
  /** Subscribes to these runs at a worker. */
  ask(worker: number, runs: readonly FollowedRun[]): void;
  /** Unsubscribes from a run at its worker. */
  unask(worker: number, responseId: string): void;
  noteAnswer(ms: number): void;
  caughtUp(reason: "missed" | "silent"): void;
  onFault(fault: unknown): void;
}

/** The runs of other processes with subscribers here. */
export class DistantRuns {
  readonly #options: DistantRunsOptions;
  readonly #follower: Follower;
  readonly #runs = new Map<string, FollowedRun>();
  readonly #links = new Map<number, WorkerLink>();
  readonly #linkOf = new Map<FollowedRun, WorkerLink>();
  /** The runs whose worker is not known yet. */
  readonly #workerless = new Set<FollowedRun>();
  #isPlacing = false;
  #mustPlace = false;
  #placedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DistantRunsOptions) {
    this.#options = options;
    this.#follower = { ...options, onLeft: (run) => this.#end(run) };
  }

  /** The number of followed runs, and of their silent workers. */
  get load(): { readonly runs: number; readonly silentWorkers: number } {
    const silent = [...this.#links.values()].filter((link) => link.size > 0 && link.isSilent);
    return { runs: this.#runs.size, silentWorkers: silent.length };
  }

  read(responseId: string, after: number): Subscription {
    const run = this.#runOf(responseId, after);
    const isFirst = run.after === null;
    const live = run.read(after);
    if (isFirst) this.#linkOf.get(run)?.ask(run);
    return live;
  }

  async waitForEnd(responseId: string, signal: AbortSignal): Promise<void> {
    await this.#runOf(responseId, -1).waitForEnd(signal);
  }

  hear(updates: RunUpdates): void {
    this.#links.get(updates.worker)?.hear(updates);
  }

  /** Handles the message that some runs have a worker now. */
  hearTaken(responseIds: readonly string[]): void {
    const runs = responseIds.flatMap((id) => this.#runs.get(id) ?? []);
    if (runs.some((run) => this.#workerless.has(run))) this.#placeSoon();
  }

  /** Call a few times per second. */
  tick(): void {
    for (const link of this.#links.values()) {
      if (link.size === 0) this.#links.delete(link.worker);
      else link.tick();
    }
    if (this.#workerless.size > 0 && this.#options.now() - this.#placedAt >= PLACE_EVERY_MS) this.#placeSoon();
  }

  /** Ends all subscriptions. */
  clear(): void {
    for (const run of this.#runs.values()) this.#end(run);
  }

  #runOf(responseId: string, position: number): FollowedRun {
    const present = this.#runs.get(responseId);
    if (present !== undefined) return present;
    const run: FollowedRun = new FollowedRun(responseId, position, () => this.#forget(run));
    this.#runs.set(responseId, run);
    this.#workerless.add(run);
    this.#placeSoon();
    return run;
  }

  #placeSoon(): void {
    if (this.#isPlacing) {
      this.#mustPlace = true;
      return;
    }
    this.#isPlacing = true;
    setImmediate(() => void this.#placeAll());
  }

  /** Never rejects. Runs that nobody makes are looked up again. */
  async #placeAll(): Promise<void> {
    try {
      do {
        this.#mustPlace = false;
        this.#placedAt = this.#options.now();
        await this.#place([...this.#workerless]);
      } while (this.#mustPlace);
    } catch (fault) {
      this.#options.onFault(fault);
    }
    this.#isPlacing = false;
  }

  async #place(runs: readonly FollowedRun[]): Promise<void> {
    for (let start = 0; start < runs.length; start += PLACE_RUNS_MAX) {
      const some = runs.slice(start, start + PLACE_RUNS_MAX);
      const placeList = await this.#options.places.find(some.map(({ id }) => id));
      const places = new Map(placeList.map((place) => [place.responseId, place]));
      for (const run of some) {
        const place = places.get(run.id);
        if (!this.#workerless.has(run)) continue; // It has no subscriber any more.
        if (place === undefined || place.isOver) this.#end(run);
        else if (place.worker !== null) this.#join(run, place.worker);
      }
    }
  }

  #join(run: FollowedRun, worker: number): void {
    const link = this.#links.get(worker) ?? new WorkerLink(worker, this.#follower);
    this.#links.set(worker, link);
    this.#linkOf.set(run, link);
    this.#workerless.delete(run);
    link.add(run);
  }

  #end(run: FollowedRun): void {
    this.#drop(run);
    run.end();
  }

  #forget(run: FollowedRun): void {
    const link = this.#linkOf.get(run);
    this.#drop(run);
    if (link !== undefined) this.#options.unask(link.worker, run.id);
  }

  #drop(run: FollowedRun): void {
    if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
    this.#linkOf.get(run)?.remove(run);
    this.#linkOf.delete(run);
    this.#workerless.delete(run);
  }
}
