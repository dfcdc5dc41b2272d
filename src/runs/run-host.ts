import { ShortLivedMap } from "../base/short-lived-map.ts";
import { type HostableRun, type HostedRun, hostable, stopWithClient } from "./hosted-run.ts";
import type { RunTimes } from "./ports/event-times.ts";
import type { Subscription } from "./reading/live-feed.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import type { LeaveCause, RunOutcome, RunStart } from "./run-driver.ts";
import { RunStopped } from "./run-failures.ts";
import type { RunFailure } from "./run-state.ts";
import {
  type LiveRun,
  type PlainRun,
  type QueuedRun,
  queueRun,
  resumeRun,
  startPlainRun,
  startRun,
} from "./start-run.ts";

/** The parts needed to run one response. */
export type RunOrder = Omit<RunStart, "signal">;

/**
 * How long a plain run stays only in memory, in milliseconds. A crash loses such a run, and its client sees a broken
 * connection.
 */
const UNSTORED_MS_MAX = 1_000;

export interface RunHostOptions {
  /** The maximum of concurrent runs. */
  readonly runsMax: number;
  /** The maximum of background runs among them. */
  readonly backgroundRunsMax: number;
  /** The maximum of queued background runs. */
  readonly queueMax: number;
  /** The time limit of a run from its model call, in milliseconds. */
  readonly runMs: number;
}

/** The queue of background runs that any of several servers can make. */
export interface SharedQueue {
  /** The number of waiting runs. */
  count(): Promise<number>;
  /** Takes stored runs for which this process has no place. They no longer belong to it. */
  take(responseIds: readonly string[]): void;
  /** Called when this process has a free place for a background run again. */
  hasPlace(): void;
}

/** The limit of running or waiting runs is reached. */
export class RunsExhausted extends Error {
  override readonly name = "RunsExhausted";
  readonly limit: "runs" | "queue";
  readonly max: number;

  constructor(limit: "runs" | "queue", max: number) {
    super(`the limit of ${max} ${limit === "runs" ? "runs at once" : "waiting runs"} is reached`);
    this.limit = limit;
    this.max = max;
  }
}

/** This process is shutting down and accepts no more background runs. */
export class QueueClosed extends Error {
  override readonly name = "QueueClosed";
}

/** Called with the reason why this process does not continue a stored run. Must not throw. */
export type OnLeave = (responseId: string, cause: LeaveCause) => void;

/** Created once, because an error costs more than everything else at the end of a run. */
const RUN_OVER = new Error("the run is over");

interface WaitingRun {
  readonly run: QueuedRun;
  readonly hosted: HostedRun;
}

/** The runs of this process. Limits how many run and wait, publishes their events to readers, and stops them. */
export class RunHost {
  readonly #options: RunHostOptions;
  readonly #hosted = new ShortLivedMap<string, HostedRun>();
  /** Runs that are being stored and will then wait in the queue. */
  readonly #entering = new Set<Promise<unknown>>();
  #queue: WaitingRun[] = [];
  #foreground = 0;
  #background = 0;
  #queueClosed = false;
  #shared: SharedQueue | null = null;
  #onLeave: OnLeave = () => {};

  constructor(options: RunHostOptions) {
    this.#options = options;
  }

  /** Sets the queue for new background runs without a free place. */
  shareQueue(queue: SharedQueue): void {
    this.#shared = queue;
  }

  onLeave(listener: OnLeave): void {
    this.#onLeave = listener;
  }

  /** How many more waiting runs from elsewhere can be made here now; unlimited if there is no shared queue. */
  get placesForWaiting(): number {
    if (this.#shared === null) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#freePlaces() - this.#queue.length - this.#entering.size);
  }

  /** The numbers of runs, for metrics. */
  get load(): { readonly foreground: number; readonly background: number; readonly queued: number } {
    return { foreground: this.#foreground, background: this.#background, queued: this.#queue.length };
  }

  /** True once the queue is closed and its runs are left to other workers. */
  get isQueueClosed(): boolean {
    return this.#queueClosed;
  }

  /**
   * Starts a foreground run. It is cancelled when `client` aborts, unless it is stored and its reader was only too
   * slow. Rejects with `RunsExhausted`, or like the model does.
   */
  async start(order: RunOrder, client: AbortSignal): Promise<LiveRun> {
    const isStored = order.log !== null; // Only this is kept, because the order contains the whole history.
    const { run } = await this.#startInForeground(order, client, startRun, (live) => hostable(live, isStored));
    return run;
  }

  /**
   * Starts a foreground run whose reply is its final snapshot; otherwise like `start`. It is stored as a whole at its
   * end, or early if it takes long or this process is told to stop.
   */
  async startPlain(order: RunOrder, client: AbortSignal): Promise<PlainRun> {
    const isUnstored = order.log === null;
    const { run, hosted } = await this.#startInForeground(order, client, startPlainRun, (plain) => plain);
    if (isUnstored) return run;
    if (this.#queueClosed) await this.#storeNow(hosted);
    else this.#limitUnstoredTime(hosted);
    return run;
  }

  /**
   * Stores a background run and starts it when a place is free. Resolves once it is stored; rejects with
   * `RunsExhausted` or `QueueClosed`.
   */
  async enqueue(order: RunOrder): Promise<void> {
    const { queueMax } = this.#options;
    if (this.#queueClosed) throw new QueueClosed("this process starts no further background runs");
    if (this.#queue.length + this.#entering.size >= queueMax + this.#freePlaces())
      throw new RunsExhausted("queue", queueMax);
    if (this.placesForWaiting === 0 && this.#shared !== null && (await this.#shared.count()) >= queueMax)
      throw new RunsExhausted("queue", queueMax);
    const hosted = this.#admit(order);
    const entering = queueRun({ ...order, signal: hosted.controller.signal });
    this.#entering.add(entering);
    try {
      const run = await entering;
      hosted.run = hostable(run, order.log !== null);
      this.#entering.delete(entering);
      this.#wait({ run, hosted });
      await this.#shareWaiting(hosted);
    } catch (error) {
      this.#entering.delete(entering);
      hosted.end();
      throw error;
    }
  }

  /**
   * Continues another worker's run. The limit of waiting runs does not apply, because the run was already admitted.
   * `askFailure`: see `resumeRun`. Resolves once the run waits in the queue, or has ended if its model is not called.
   */
  async resume(order: RunOrder, logged: readonly RecordedEvent[], askFailure: RunFailure | null): Promise<void> {
    const hosted = this.#admit(order);
    try {
      const run = resumeRun({ ...order, signal: hosted.controller.signal }, logged, askFailure);
      hosted.run = hostable(run, order.log !== null);
      if (run.asksModel) return this.#wait({ run, hosted });
      this.#end(hosted, await run.drive());
    } catch (error) {
      hosted.end();
      throw error;
    }
  }

  /** Subscribes to the events of a run from now on; null if another process makes it. */
  subscribe(responseId: string): Subscription | null {
    return this.#hosted.get(responseId)?.run?.subscribe() ?? null;
  }

  /** The times of a run's events so far; null if this process does not make it, or does not store it. */
  timesOf(responseId: string): RunTimes | null {
    return this.#hosted.get(responseId)?.run?.times?.soFar() ?? null;
  }

  /** Whether the model of a run was called here. */
  hasBegun(responseId: string): boolean {
    return this.#hosted.get(responseId)?.hasBegun === true;
  }

  has(responseId: string): boolean {
    return this.#hosted.has(responseId);
  }

  /** Cancels a run. Resolves to true once it has ended, or to false if another process makes it. */
  async stop(responseId: string): Promise<boolean> {
    const hosted = this.#hosted.get(responseId);
    if (hosted === undefined) return false;
    this.#stop(hosted, RunStopped.cancelled());
    await hosted.ended;
    return true;
  }

  /** Stores the plain runs that continue this response, so that a delete keeps its items for them. */
  async storeContinuing(responseId: string): Promise<void> {
    const continuing = [...this.#hosted.values()].filter(({ previousId }) => previousId === responseId);
    await Promise.all(continuing.map((hosted) => this.#storeNow(hosted)));
  }

  /**
   * Stops starting background runs and releases the waiting ones. Returns their ids. Stores all plain runs, so that
   * another worker can end the ones that do not finish here.
   */
  async closeQueue(): Promise<readonly string[]> {
    this.#queueClosed = true;
    await Promise.allSettled(this.#entering);
    await Promise.all([...this.#hosted.values()].map((hosted) => this.#storeNow(hosted)));
    const left = this.#queue.map(({ run }) => run.responseId);
    await this.releaseAll(left);
    return left;
  }

  /** Stops runs here without ending them. Resolves once this process stores no more of their events. */
  async releaseAll(responseIds: Iterable<string>): Promise<void> {
    const leaving: Promise<void>[] = [];
    for (const responseId of responseIds) {
      const hosted = this.#hosted.get(responseId);
      if (hosted === undefined) continue;
      this.#stop(hosted, RunStopped.released());
      leaving.push(hosted.ended);
    }
    await Promise.all(leaving);
  }

  /** Resolves to true once the present runs have ended, or to false when `signal` aborts. */
  async idle(signal?: AbortSignal): Promise<boolean> {
    const all = Promise.all([...this.#hosted.values()].map(({ ended }) => ended)).then(() => true);
    if (signal === undefined) return await all;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    if (signal.aborted) resolve(false);
    signal.addEventListener("abort", () => resolve(false), { once: true });
    return await Promise.race([all, promise]);
  }

  /** The ids of all runs of this process, waiting or running. */
  list(): readonly string[] {
    return [...this.#hosted.keys()];
  }

  /** The ids of the stored runs. Until they end, the ledger lists them as held by this worker. */
  listStored(): readonly string[] {
    return [...this.#hosted.values()].filter(({ run }) => run?.isStored() === true).map(({ responseId }) => responseId);
  }

  async #startInForeground<Run extends { readonly ended: Promise<RunOutcome> }>(
    order: RunOrder,
    client: AbortSignal,
    begin: (start: RunStart) => Promise<Run>,
    hosting: (run: Run) => HostableRun,
  ): Promise<{ readonly run: Run; readonly hosted: HostedRun }> {
    const { runsMax } = this.#options;
    if (this.#foreground + this.#background >= runsMax) throw new RunsExhausted("runs", runsMax);
    const hosted = this.#admit(order);
    const stopClock = this.#limitTime(hosted);
    this.#foreground += 1;
    hosted.hasBegun = true;
    const forgetClient = stopWithClient(hosted, client, order.log !== null);
    const finish = (outcome: RunOutcome | null): void => {
      forgetClient();
      stopClock();
      this.#leavePlace(hosted, outcome, () => (this.#foreground -= 1));
    };
    try {
      const run = await begin({ ...order, signal: hosted.controller.signal });
      hosted.run = hosting(run);
      const ended = run.ended.then((outcome) => {
        finish(outcome);
        return outcome;
      });
      return { run: { ...run, ended }, hosted };
    } catch (error) {
      finish(null);
      throw error;
    }
  }

  /** This process is done with a run. */
  #end(hosted: HostedRun, outcome: RunOutcome | null): void {
    if (outcome?.type === "left") this.#onLeave(hosted.responseId, outcome.cause);
    if (outcome?.type === "ended" && !outcome.isStored) this.#onLeave(hosted.responseId, { type: "unstored_end" });
    hosted.end();
  }

  #admit({ plan, onOver }: RunOrder): HostedRun {
    const { id: responseId, previous_response_id: previousId } = plan.response;
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      this.#hosted.delete(responseId);
      onOver?.();
      controller.abort(RUN_OVER); // Stops everything that still works for the run.
      resolve();
    };
    const hosted: HostedRun = { responseId, previousId, controller, run: null, hasBegun: false, ended: promise, end };
    this.#hosted.add(responseId, hosted);
    return hosted;
  }

  #wait(waiting: WaitingRun): void {
    this.#queue.push(waiting);
    this.#pump();
  }

  /** Moves a run to the shared queue if it is waiting here. */
  async #shareWaiting(hosted: HostedRun): Promise<void> {
    if (this.#shared === null || !this.#queue.some((waiting) => waiting.hosted === hosted)) return;
    await this.releaseAll([hosted.responseId]);
    this.#shared.take([hosted.responseId]);
  }

  #freePlaces(): number {
    const { runsMax, backgroundRunsMax } = this.#options;
    return Math.max(0, Math.min(backgroundRunsMax - this.#background, runsMax - this.#background - this.#foreground));
  }

  #pump(): void {
    while (!this.#queueClosed && this.#queue.length > 0 && this.#freePlaces() > 0) {
      const next = this.#queue.shift();
      if (next !== undefined) void this.#run(next);
    }
  }

  async #run({ run, hosted }: WaitingRun): Promise<void> {
    this.#background += 1;
    hosted.hasBegun = true;
    const stopClock = this.#limitTime(hosted);
    const outcome = await run.drive();
    stopClock();
    this.#leavePlace(hosted, outcome, () => (this.#background -= 1));
  }

  /** Ends a run, frees its place by `leave`, and fills the place with another run. */
  #leavePlace(hosted: HostedRun, outcome: RunOutcome | null, leave: () => void): void {
    const hadPlace = this.#freePlaces() > 0;
    leave();
    this.#end(hosted, outcome);
    this.#pump();
    if (!hadPlace) this.#shared?.hasPlace();
  }

  /** Stops a run. A waiting run ends at once; it needs no free place. */
  #stop(hosted: HostedRun, reason: RunStopped): void {
    hosted.controller.abort(reason);
    const waiting = this.#queue.find((other) => other.hosted === hosted);
    if (waiting === undefined) return;
    this.#queue = this.#queue.filter((other) => other !== waiting);
    void waiting.run.drive().then((outcome) => this.#end(hosted, outcome));
  }

  /** Stores a plain run early if it takes long. */
  #limitUnstoredTime(hosted: HostedRun): void {
    const timer = setTimeout(() => void this.#storeNow(hosted), UNSTORED_MS_MAX);
    void hosted.ended.then(() => clearTimeout(timer));
  }

  /** Never rejects. A run that cannot be stored is stopped, because its reply would name an unknown response. */
  async #storeNow({ run, controller }: HostedRun): Promise<void> {
    try {
      await run?.storeNow?.();
    } catch {
      controller.abort(RunStopped.unstorable()); // Its outcome contains the fault.
    }
  }

  #limitTime({ controller }: HostedRun): () => void {
    const { runMs } = this.#options;
    const timer = setTimeout(() => controller.abort(RunStopped.timedOut(runMs)), runMs);
    return () => clearTimeout(timer);
  }
}
