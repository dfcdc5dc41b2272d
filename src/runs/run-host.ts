import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import { ShortLivedMap } from "@antiphon/base/short-lived-map.ts";
import { type HostableRun, type HostedRun, hostable, stopWithClient } from "./hosted-run.ts";
import type { RunTimes } from "./ports/event-times.ts";
import type { Subscription } from "./reading/live-feed.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import type { LeaveCause, RunOutcome, RunStart } from "./run-driver.ts";
import { RunStopped } from "./run-failures.ts";
import { KnownRequests } from "./run-requests.ts";
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
  readonly hostedRun: HostedRun;
}

/** The runs of this process. Limits how many run and wait, publishes their events to readers, and stops them. */
export class RunHost {
  /** What clients ask of these runs. */
  readonly requests = new KnownRequests();
  readonly #options: RunHostOptions;
  readonly #hostedRuns = new ShortLivedMap<string, HostedRun>();
  /** Runs that are being stored and will then wait in the queue. */
  readonly #entering = new Set<Promise<unknown>>();
  #queue: WaitingRun[] = [];
  #foreground = 0;
  #background = 0;
  #queueClosed = false;
  #sharedQueue: SharedQueue | null = null;
  #onLeave: OnLeave = () => {};

  constructor(options: RunHostOptions) {
    this.#options = options;
  }

  /** Sets the queue for new background runs without a free place. */
  shareQueue(queue: SharedQueue): void {
    this.#sharedQueue = queue;
  }

  onLeave(listener: OnLeave): void {
    this.#onLeave = listener;
  }

  /** How many more waiting runs from elsewhere can be made here now; unlimited if there is no shared queue. */
  get placesForWaiting(): number {
    if (this.#sharedQueue === null) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#freePlaces() - this.#queue.length - this.#entering.size);
  }

  /** The numbers of runs, for metrics. */
  get load(): { readonly foreground: number; readonly background: number; readonly queueLength: number } {
    return { foreground: this.#foreground, background: this.#background, queueLength: this.#queue.length };
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
    const { run, hostedRun } = await this.#startInForeground(order, client, startPlainRun, (plain) => plain);
    if (isUnstored) return run;
    if (this.#queueClosed) await this.#storeNow(hostedRun);
    else this.#limitUnstoredTime(hostedRun);
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
    if (this.placesForWaiting === 0 && this.#sharedQueue !== null && (await this.#sharedQueue.count()) >= queueMax)
      throw new RunsExhausted("queue", queueMax);
    const hostedRun = this.#admit(order);
    const entering = queueRun({ ...order, signal: hostedRun.controller.signal });
    this.#entering.add(entering);
    try {
      const run = await entering;
      hostedRun.run = hostable(run, order.log !== null);
      this.#entering.delete(entering);
      this.#wait({ run, hostedRun });
      await this.#shareWaiting(hostedRun);
    } catch (error) {
      this.#entering.delete(entering);
      hostedRun.end();
      throw error;
    }
  }

  /**
   * Continues another worker's run. The limit of waiting runs does not apply, because the run was already admitted.
   * `askFailure`: see `resumeRun`. Resolves once the run waits in the queue, or has ended if its model is not called.
   */
  async resume(order: RunOrder, loggedEvents: readonly RecordedEvent[], askFailure: RunFailure | null): Promise<void> {
    const hostedRun = this.#admit(order);
    try {
      const run = resumeRun({ ...order, signal: hostedRun.controller.signal }, loggedEvents, askFailure);
      hostedRun.run = hostable(run, order.log !== null);
      if (run.asksModel) return this.#wait({ run, hostedRun });
      this.#end(hostedRun, await run.drive());
    } catch (error) {
      hostedRun.end();
      throw error;
    }
  }

  /** Subscribes to the events of a run from now on; null if another process makes it. */
  subscribe(responseId: string): Subscription | null {
    return this.#hostedRuns.get(responseId)?.run?.subscribe() ?? null;
  }

  /** The times of a run's events so far; null if this process does not make it, or does not store it. */
  timesOf(responseId: string): RunTimes | null {
    return this.#hostedRuns.get(responseId)?.run?.times?.soFar() ?? null;
  }

  /** Whether the model of a run was called here. */
  hasBegun(responseId: string): boolean {
    return this.#hostedRuns.get(responseId)?.hasBegun === true;
  }

  has(responseId: string): boolean {
    return this.#hostedRuns.has(responseId);
  }

  /** Cancels a run. Resolves to true once it has ended, or to false if another process makes it. */
  async stop(responseId: string): Promise<boolean> {
    const hostedRun = this.#hostedRuns.get(responseId);
    if (hostedRun === undefined) return false;
    this.#stop(hostedRun, RunStopped.forCancel());
    await hostedRun.completion;
    return true;
  }

  /** Resolves once this process is done with a run; at once if it does not make it. */
  async whenDone(responseId: string): Promise<void> {
    await this.#hostedRuns.get(responseId)?.completion;
  }

  /** Stores the plain runs that continue this response, so that a delete keeps its items for them. */
  async storeContinuing(responseId: string): Promise<void> {
    const continuing = [...this.#hostedRuns.values()].filter(({ previousId }) => previousId === responseId);
    await Promise.all(continuing.map((hostedRun) => this.#storeNow(hostedRun)));
  }

  /**
   * Stops starting background runs and releases the waiting ones. Returns their ids. Stores all plain runs, so that
   * another worker can end the ones that do not finish here.
   */
  async closeQueue(): Promise<readonly string[]> {
    this.#queueClosed = true;
    await Promise.allSettled(this.#entering);
    await Promise.all([...this.#hostedRuns.values()].map((hostedRun) => this.#storeNow(hostedRun)));
    const runIds = this.#queue.map(({ run }) => run.responseId);
    await this.releaseAll(runIds);
    return runIds;
  }

  /** Stops runs here without ending them. Resolves once this process stores no more of their events. */
  async releaseAll(responseIds: Iterable<string>): Promise<void> {
    const leaving: Promise<void>[] = [];
    for (const responseId of responseIds) {
      const hostedRun = this.#hostedRuns.get(responseId);
      if (hostedRun === undefined) continue;
      this.#stop(hostedRun, RunStopped.forRelease());
      leaving.push(hostedRun.completion);
    }
    await Promise.all(leaving);
  }

  /** Resolves to true once the present runs have ended, or to false when `signal` aborts. */
  async idle(signal?: AbortSignal): Promise<boolean> {
    const all = Promise.all([...this.#hostedRuns.values()].map(({ completion }) => completion)).then(() => true);
    if (signal === undefined) return await all;
    return await unlessAborted(all, signal).catch(() => false);
  }

  /** The ids of all runs of this process, waiting or running. */
  list(): readonly string[] {
    return [...this.#hostedRuns.keys()];
  }

  /** The ids of the stored runs. Until they end, the ledger lists them as held by this worker. */
  listStored(): readonly string[] {
    return [...this.#hostedRuns.values()]
      .filter(({ run }) => run?.isStored() === true)
      .map(({ responseId }) => responseId);
  }

  async #startInForeground<Run extends { readonly outcome: Promise<RunOutcome> }>(
    order: RunOrder,
    client: AbortSignal,
    begin: (start: RunStart) => Promise<Run>,
    hosting: (run: Run) => HostableRun,
  ): Promise<{ readonly run: Run; readonly hostedRun: HostedRun }> {
    const { runsMax } = this.#options;
    if (this.#foreground + this.#background >= runsMax) throw new RunsExhausted("runs", runsMax);
    const hostedRun = this.#admit(order);
    const stopClock = this.#limitTime(hostedRun);
    this.#foreground += 1;
    hostedRun.hasBegun = true;
    const forgetClient = stopWithClient(hostedRun, client, order.log !== null);
    const finish = (outcome: RunOutcome | null): void => {
      forgetClient();
      stopClock();
      this.#leavePlace(hostedRun, outcome, () => (this.#foreground -= 1));
    };
    try {
      const run = await begin({ ...order, signal: hostedRun.controller.signal });
      hostedRun.run = hosting(run);
      const ending = run.outcome.then((outcome) => {
        finish(outcome);
        return outcome;
      });
      return { run: { ...run, outcome: ending }, hostedRun };
    } catch (error) {
      finish(null);
      throw error;
    }
  }

  /** This process is done with a run. */
  #end(hostedRun: HostedRun, outcome: RunOutcome | null): void {
    if (outcome?.type === "left") this.#onLeave(hostedRun.responseId, outcome.cause);
    if (outcome?.type === "ended" && !outcome.isStored) this.#onLeave(hostedRun.responseId, { type: "unstored_end" });
    hostedRun.end();
  }

  #admit({ plan, onOver }: RunOrder): HostedRun {
    const { id: responseId, previous_response_id: previousId } = plan.response;
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      this.#hostedRuns.delete(responseId);
      onOver?.();
      controller.abort(RUN_OVER); // Stops everything that still works for the run.
      resolve();
    };
    const hostedRun: HostedRun = {
      responseId,
      previousId,
      controller,
      run: null,
      hasBegun: false,
      completion: promise,
      end,
    };
    this.#hostedRuns.add(responseId, hostedRun);
    return hostedRun;
  }

  #wait(waiting: WaitingRun): void {
    this.#queue.push(waiting);
    this.#pump();
  }

  /** Moves a run to the shared queue if it is waiting here. */
  async #shareWaiting(hostedRun: HostedRun): Promise<void> {
    if (this.#sharedQueue === null || !this.#queue.some((waiting) => waiting.hostedRun === hostedRun)) return;
    await this.releaseAll([hostedRun.responseId]);
    this.#sharedQueue.take([hostedRun.responseId]);
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

  async #run({ run, hostedRun }: WaitingRun): Promise<void> {
    this.#background += 1;
    hostedRun.hasBegun = true;
    const stopClock = this.#limitTime(hostedRun);
    const outcome = await run.drive();
    stopClock();
    this.#leavePlace(hostedRun, outcome, () => (this.#background -= 1));
  }

  /** Ends a run, frees its place by `leave`, and fills the place with another run. */
  #leavePlace(hostedRun: HostedRun, outcome: RunOutcome | null, leave: () => void): void {
    const hadPlace = this.#freePlaces() > 0;
    leave();
    this.#end(hostedRun, outcome);
    this.#pump();
    if (!hadPlace) this.#sharedQueue?.hasPlace();
  }

  /** Stops a run. A waiting run ends at once; it needs no free place. */
  #stop(hostedRun: HostedRun, reason: RunStopped): void {
    hostedRun.controller.abort(reason);
    const waiting = this.#queue.find((other) => other.hostedRun === hostedRun);
    if (waiting === undefined) return;
    this.#queue = this.#queue.filter((other) => other !== waiting);
    void waiting.run.drive().then((outcome) => this.#end(hostedRun, outcome));
  }

  /** Stores a plain run early if it takes long. */
  #limitUnstoredTime(hostedRun: HostedRun): void {
    const timer = setTimeout(() => void this.#storeNow(hostedRun), UNSTORED_MS_MAX);
    void hostedRun.completion.then(() => clearTimeout(timer));
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
    const timer = setTimeout(() => controller.abort(RunStopped.timedOut(this.#options.runMs)), this.#options.runMs);
    return () => clearTimeout(timer);
  }
}
