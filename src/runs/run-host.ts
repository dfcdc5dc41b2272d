import type { Subscription } from "./live-feed.ts";
import type { RecordedEvent } from "./ports.ts";
import { type LiveRun, type QueuedRun, queueRun, type RunStart, resumeRun, startRun } from "./run-driver.ts";
import { RunStopped } from "./run-stopped.ts";

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

interface HostedRun {
  readonly controller: AbortController;
  /** Null before its first events are stored. */
  subscribe: (() => Subscription) | null;
  ended: Promise<void>;
}

interface WaitingRun {
  readonly run: QueuedRun;
  readonly hosted: HostedRun;
  readonly resolve: () => void;
}

/** The runs of this process: how many may run and wait, who reads them along, and how to stop one. */
export class RunHost {
  readonly #options: RunHostOptions;
  readonly #hosted = new Map<string, HostedRun>();
  #queue: WaitingRun[] = [];
  #foreground = 0;
  #background = 0;
  #reserved = 0;
  #draining = false;

  constructor(options: RunHostOptions) {
    this.#options = options;
  }

  /** For metrics. */
  get load(): { readonly foreground: number; readonly background: number; readonly queued: number } {
    return { foreground: this.#foreground, background: this.#background, queued: this.#queue.length };
  }

  /** Starts a run of the foreground, which is cancelled when `client` aborts. Rejects with `RunsExhausted`, or as the model does. */
  async start(order: RunOrder, client: AbortSignal): Promise<LiveRun> {
    const { runsMax } = this.#options;
    if (this.#foreground + this.#background >= runsMax) throw new RunsExhausted("runs", runsMax);
    const responseId = order.plan.response.id;
    const hosted = this.#admit(responseId);
    this.#foreground += 1;
    const stopClock = this.#limitTime(hosted);
    const finish = (): void => {
      stopClock();
      this.#foreground -= 1;
      this.#hosted.delete(responseId);
      this.#pump();
    };
    try {
      const run = await startRun({ ...order, signal: AbortSignal.any([client, hosted.controller.signal]) });
      hosted.subscribe = () => run.subscribe();
      hosted.ended = run.ended.finally(finish);
      return { ...run, ended: hosted.ended };
    } catch (error) {
      finish();
      throw error;
    }
  }

  /** Stores a run of the background and has it run when its turn comes. Resolves once it is stored; rejects with `RunsExhausted`. */
  async enqueue(order: RunOrder): Promise<LiveRun> {
    const { queueMax } = this.#options;
    if (this.#queue.length + this.#reserved >= queueMax + this.#freePlaces())
      throw new RunsExhausted("queue", queueMax);
    this.#reserved += 1;
    const hosted = this.#admit(order.plan.response.id);
    try {
      const run = await queueRun({ ...order, signal: hosted.controller.signal });
      return this.#wait(run, hosted);
    } catch (error) {
      this.#hosted.delete(order.plan.response.id);
      throw error;
    } finally {
      this.#reserved -= 1;
    }
  }

  /** Takes up a run that another worker began, whatever the limits: it was admitted once. `mayRestart`: its task is at hand. */
  resume(order: RunOrder, logged: readonly RecordedEvent[], mayRestart: boolean): LiveRun {
    const hosted = this.#admit(order.plan.response.id);
    return this.#wait(resumeRun({ ...order, signal: hosted.controller.signal }, logged, mayRestart), hosted);
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
    this.#end(responseId, hosted, RunStopped.cancelled());
    await hosted.ended;
    return true;
  }

  /** Starts no further run. Gives the ids of those that still wait; they are run by nobody here. */
  async leaveQueue(): Promise<readonly string[]> {
    this.#draining = true;
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
      this.#end(responseId, hosted, RunStopped.released());
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

  #admit(responseId: string): HostedRun {
    const hosted: HostedRun = { controller: new AbortController(), subscribe: null, ended: Promise.resolve() };
    this.#hosted.set(responseId, hosted);
    return hosted;
  }

  #wait(run: QueuedRun, hosted: HostedRun): LiveRun {
    const { promise, resolve } = Promise.withResolvers<void>();
    hosted.subscribe = () => run.subscribe();
    hosted.ended = promise.finally(() => this.#hosted.delete(run.responseId));
    this.#queue.push({ run, hosted, resolve });
    this.#pump();
    return { responseId: run.responseId, events: run.events, subscribe: () => run.subscribe(), ended: hosted.ended };
  }

  #freePlaces(): number {
    const { runsMax, backgroundRunsMax } = this.#options;
    return Math.max(0, Math.min(backgroundRunsMax - this.#background, runsMax - this.#background - this.#foreground));
  }

  #pump(): void {
    while (!this.#draining && this.#queue.length > 0 && this.#freePlaces() > 0) {
      const next = this.#queue.shift();
      if (next !== undefined) void this.#run(next);
    }
  }

  async #run({ run, hosted, resolve }: WaitingRun): Promise<void> {
    this.#background += 1;
    const stopClock = this.#limitTime(hosted);
    await run.drive();
    stopClock();
    this.#background -= 1;
    resolve();
    this.#pump();
  }

  /** A run that waits is ended at once, without a place among the running ones. */
  #end(responseId: string, hosted: HostedRun, reason: RunStopped): void {
    hosted.controller.abort(reason);
    const waiting = this.#queue.find(({ run }) => run.responseId === responseId);
    if (waiting === undefined) return;
    this.#queue = this.#queue.filter((other) => other !== waiting);
    void waiting.run.drive().then(waiting.resolve);
  }

  #limitTime({ controller }: HostedRun): () => void {
    const { runMs } = this.#options;
    const timer = setTimeout(() => controller.abort(RunStopped.timedOut(runMs)), runMs);
    return () => clearTimeout(timer);
  }
}
