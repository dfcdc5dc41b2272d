import { ReaderTooSlow } from "../base/reader-too-slow.ts";
import type { RecordedEvent } from "./ports.ts";
import type { Subscription } from "./reading/live-feed.ts";
import { type LiveRun, type QueuedRun, queueRun, type RunStart, resumeRun, startRun } from "./run-driver.ts";
import { RunStopped } from "./run-failures.ts";
import type { RunFailure } from "./run-state.ts";

/** What it takes to make one response. */
export type RunOrder = Omit<RunStart, "signal">;

export interface RunHostOptions {
  /** Runs at once. */
  readonly runsMax: number;
  /** Those among them that are of the background. */
  readonly backgroundRunsMax: number;
  /** Background runs that wait for their turn. */
  readonly queueMax: number;
  /** How long a run may take, from when its model is asked; in milliseconds. */
  readonly runMs: number;
}

/** There is no room for a further run. */
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

/** The runs of this process come to an end: further ones of the background are another's to take. */
export class RunsLeaving extends Error {
  override readonly name = "RunsLeaving";
}

interface HostedRun {
  readonly responseId: string;
  readonly controller: AbortController;
  /** Null before its first events are stored. */
  subscribe: (() => Subscription) | null;
  /** Whether another worker could go on with it. */
  isStored: boolean;
  readonly ended: Promise<void>;
  /** Call it when nothing more happens to the run here. */
  readonly end: () => void;
}

interface WaitingRun {
  readonly run: QueuedRun;
  readonly hosted: HostedRun;
}

/** The runs of this process: how many may run and wait, who reads them along, and how to stop one. */
export class RunHost {
  readonly #options: RunHostOptions;
  readonly #hosted = new Map<string, HostedRun>();
  /** Runs that are being stored and will wait. */
  readonly #entering = new Set<Promise<unknown>>();
  #queue: WaitingRun[] = [];
  #foreground = 0;
  #background = 0;
  #leaving = false;

  constructor(options: RunHostOptions) {
    this.#options = options;
  }

  /** For metrics. */
  get load(): { readonly foreground: number; readonly background: number; readonly queued: number } {
    return { foreground: this.#foreground, background: this.#background, queued: this.#queue.length };
  }

  /** True once the runs that wait are left to other workers. */
  get isLeaving(): boolean {
    return this.#leaving;
  }

  /**
   * Starts a run of the foreground, which is cancelled when `client` aborts, unless it is stored and only its reader
   * was too slow. Rejects with `RunsExhausted`, or as the model does.
   */
  async start(order: RunOrder, client: AbortSignal): Promise<LiveRun> {
    const { runsMax } = this.#options;
    if (this.#foreground + this.#background >= runsMax) throw new RunsExhausted("runs", runsMax);
    const hosted = this.#admit(order);
    const stopClock = this.#limitTime(hosted);
    this.#foreground += 1;
    const isStored = order.log !== null; // All that is held of the order, which has the whole history.
    const leave = (): void => {
      const isRead = !isStored || !(client.reason instanceof ReaderTooSlow);
      if (isRead) hosted.controller.abort(client.reason); // Else the log has the rest for a reader that was too slow.
    };
    client.addEventListener("abort", leave, { once: true });
    if (client.aborted) leave();
    const finish = (): void => {
      client.removeEventListener("abort", leave);
      stopClock();
      this.#foreground -= 1;
      hosted.end();
      this.#pump();
    };
    try {
      const run = await startRun({ ...order, signal: hosted.controller.signal });
      show(hosted, order, run);
      void run.ended.then(finish);
      return { ...run, ended: hosted.ended };
    } catch (error) {
      finish();
      throw error;
    }
  }

  /**
   * Stores a run of the background and has it run when its turn comes. Resolves once it is stored; rejects with
   * `RunsExhausted` or `RunsLeaving`.
   */
  async enqueue(order: RunOrder): Promise<void> {
    const { queueMax } = this.#options;
    if (this.#leaving) throw new RunsLeaving("no further run is begun here");
    if (this.#queue.length + this.#entering.size >= queueMax + this.#freePlaces())
      throw new RunsExhausted("queue", queueMax);
    const hosted = this.#admit(order);
    const entering = queueRun({ ...order, signal: hosted.controller.signal });
    this.#entering.add(entering);
    try {
      const run = await entering;
      show(hosted, order, run);
      this.#entering.delete(entering);
      this.#wait({ run, hosted });
    } catch (error) {
      this.#entering.delete(entering);
      hosted.end();
      throw error;
    }
  }

  /**
   * Takes up a run that another worker began, whatever the limits: it was admitted once. `hindrance`: as in
   * `resumeRun`. Resolves once it waits for its turn or, if it is not begun again, has ended.
   */
  async resume(order: RunOrder, logged: readonly RecordedEvent[], hindrance: RunFailure | null): Promise<void> {
    const hosted = this.#admit(order);
    try {
      const run = resumeRun({ ...order, signal: hosted.controller.signal }, logged, hindrance);
      show(hosted, order, run);
      if (run.asksModel) return this.#wait({ run, hosted });
      await run.drive();
      hosted.end();
    } catch (error) {
      hosted.end();
      throw error;
    }
  }

  /** A place at the events to come of a run; null if it is not run here. */
  subscribe(responseId: string): Subscription | null {
    return this.#hosted.get(responseId)?.subscribe?.() ?? null;
  }

  has(responseId: string): boolean {
    return this.#hosted.has(responseId);
  }

  /** Stops a run as cancelled. Resolves once it has ended; false if it is not run here. */
  async stop(responseId: string): Promise<boolean> {
    const hosted = this.#hosted.get(responseId);
    if (hosted === undefined) return false;
    this.#stop(hosted, RunStopped.cancelled());
    await hosted.ended;
    return true;
  }

  /** Begins no further run of the background. Gives the ids of those that still wait; they are run by nobody here. */
  async leaveQueue(): Promise<readonly string[]> {
    this.#leaving = true;
    await Promise.allSettled(this.#entering);
    const left = this.#queue.map(({ run }) => run.responseId);
    await this.releaseAll(left);
    return left;
  }

  /** Lets go of runs without ending them. Resolves once nothing more is stored of them here. */
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

  /** Resolves once no run is left, or, with false, when `signal` aborts. */
  async idle(signal?: AbortSignal): Promise<boolean> {
    const all = Promise.all([...this.#hosted.values()].map(({ ended }) => ended)).then(() => true);
    if (signal === undefined) return await all;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    signal.addEventListener("abort", () => resolve(false), { once: true });
    return await Promise.race([all, promise]);
  }

  /** The runs that are here, waiting or running. */
  list(): readonly string[] {
    return [...this.#hosted.keys()];
  }

  /** Those among them that are stored: the ledger says that this worker holds them, until they have ended. */
  listStored(): readonly string[] {
    return [...this.#hosted.values()].filter(({ isStored }) => isStored).map(({ responseId }) => responseId);
  }

  #admit({ plan }: RunOrder): HostedRun {
    const responseId = plan.response.id;
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      this.#hosted.delete(responseId);
      controller.abort(); // Whatever still works for it stops.
      resolve();
    };
    const hosted: HostedRun = { responseId, controller, subscribe: null, isStored: false, ended: promise, end };
    this.#hosted.set(responseId, hosted);
    return hosted;
  }

  #wait(waiting: WaitingRun): void {
    this.#queue.push(waiting);
    this.#pump();
  }

  #freePlaces(): number {
    const { runsMax, backgroundRunsMax } = this.#options;
    return Math.max(0, Math.min(backgroundRunsMax - this.#background, runsMax - this.#background - this.#foreground));
  }

  #pump(): void {
    while (!this.#leaving && this.#queue.length > 0 && this.#freePlaces() > 0) {
      const next = this.#queue.shift();
      if (next !== undefined) void this.#run(next);
    }
  }

  async #run({ run, hosted }: WaitingRun): Promise<void> {
    this.#background += 1;
    const stopClock = this.#limitTime(hosted);
    await run.drive();
    stopClock();
    this.#background -= 1;
    hosted.end();
    this.#pump();
  }

  /** A run that waits is ended at once, without a place among the running ones. */
  #stop(hosted: HostedRun, reason: RunStopped): void {
    hosted.controller.abort(reason);
    const waiting = this.#queue.find((other) => other.hosted === hosted);
    if (waiting === undefined) return;
    this.#queue = this.#queue.filter((other) => other !== waiting);
    void waiting.run.drive().then(hosted.end);
  }

  #limitTime({ controller }: HostedRun): () => void {
    const { runMs } = this.#options;
    const timer = setTimeout(() => controller.abort(RunStopped.timedOut(runMs)), runMs);
    return () => clearTimeout(timer);
  }
}

function show(hosted: HostedRun, { log }: RunOrder, run: Pick<QueuedRun, "subscribe">): void {
  hosted.subscribe = () => run.subscribe();
  hosted.isStored = log !== null;
}
