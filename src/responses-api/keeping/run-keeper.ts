import { setTimeout as sleep } from "node:timers/promises";
import { mapSomeAtOnce } from "../../base/limits/map-some-at-once.ts";
import type { Logger } from "../../base/logger.ts";
import { INTERRUPTED_FAILURE, OUTDATED_FAILURE, type RunOrder } from "../../runs/index.ts";
import type { AbandonedRun, EventLog, OpenedRun, RecordedEvent } from "../../runs/ports.ts";
import { endingOrder, type OrderServices, orderOf } from "../create/begin-response.ts";
import type { ResponseServices } from "../services.ts";
import { endingTask, type RunTask } from "./run-task.ts";
import { readTask } from "./stored-task.ts";

/** What keeping runs takes of the services. */
export type KeeperServices = OrderServices & Pick<ResponseServices, "runs" | "ledger">;

/** How often the keeper looks whether somebody asked to stop a run. */
const LOOK_INTERVAL_MS = 1_000;
/** How many looks pass between two renewals of the lease; well within its term. */
const LOOKS_PER_RENEWAL = 5;
/** How many abandoned runs are claimed at a time; each brings its whole request. */
const CLAIMS_MAX = 20;
/** How many of them are brought into memory, with all of their events, and ended together. */
const RESUMED_TOGETHER_MAX = 5;
/** How long a start waits for what earlier processes left; the rest is taken up while requests are served. */
const START_WAIT_MS = 2_000;
/** How often a run is begun again. One that was so often is perhaps what ends the process each time. */
const RESTARTS_MAX = 3;

/** Keeps this process's hold on its runs, and takes up those that nobody makes. */
export class RunKeeper {
  readonly #services: KeeperServices;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | null = null;
  #look: Promise<void> = Promise.resolve();
  #looks = 0;
  #takesUp = true;
  #hasLeft = false;

  constructor(services: KeeperServices, log: Logger) {
    this.#services = services;
    this.#log = log;
  }

  /**
   * Takes up what earlier processes left, then goes on looking. Resolves once every run that was left is ended or waits
   * for its turn, or after `waitMs`.
   */
  async start(waitMs = START_WAIT_MS): Promise<void> {
    const done = this.#takeUpLeft();
    let isStarting = true;
    this.#look = done.then(
      () => this.#schedule(),
      (fault: unknown) => {
        if (isStarting) return; // Whoever starts this server is told.
        this.#tellFault(fault);
        this.#schedule();
      },
    );
    const outOfTime = new AbortController();
    const late = sleep(waitMs, true, { signal: outOfTime.signal }).catch(() => false);
    const isLate = await Promise.race([done.then(() => false), late]).finally(() => outOfTime.abort());
    isStarting = false;
    if (isLate) this.#log.info({ waitedMs: waitMs }, "runs that were left are taken up while requests are served");
  }

  /**
   * Takes up nothing more, and leaves the background runs that wait to other processes. What is running stays this
   * process's.
   */
  async stop(): Promise<void> {
    this.#takesUp = false;
    await this.#look;
    await this.#release(await this.#services.runs.closeQueue());
  }

  /**
   * Leaves the runs that are still here to other processes, after as long a wait as is given for them to end. Looks no
   * more.
   */
  async leave(waitMs: number): Promise<void> {
    const { runs } = this.#services;
    if (!(await runs.idle(AbortSignal.timeout(waitMs)))) {
      const left = runs.listStored();
      await runs.releaseAll(runs.list());
      await this.#release(left);
    }
    this.#hasLeft = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#look;
  }

  async #takeUpLeft(): Promise<void> {
    const startedAt = performance.now();
    const runs = await this.#takeUp();
    const ms = Math.round(performance.now() - startedAt);
    if (runs > 0) this.#log.info({ runs, ms }, "all runs that were left are taken up");
  }

  #tellFault(fault: unknown): void {
    this.#log.error({ err: fault }, "the runs of this server could not be looked after");
  }

  #schedule(): void {
    if (this.#hasLeft) return;
    this.#timer = setTimeout(() => {
      this.#look = this.#lookOnce().catch((fault: unknown) => this.#tellFault(fault));
      void this.#look.then(() => {
        if (this.#timer !== null) this.#schedule();
      });
    }, LOOK_INTERVAL_MS).unref();
  }

  async #lookOnce(): Promise<void> {
    const { runs, ledger } = this.#services;
    this.#looks += 1;
    const isRenewal = this.#looks % LOOKS_PER_RENEWAL === 0;
    if (isRenewal && !(await ledger.renewLease()))
      this.#log.warn({}, "this server was taken for dead, and its runs with it");
    for (const responseId of await ledger.listStopsAsked()) void runs.stop(responseId);
    if (!isRenewal) return;
    if (this.#takesUp) await this.#takeUp();
    await this.#releaseLost();
  }

  /**
   * Runs that were deleted, or that are another worker's by now, notice it when they next say something; they may be
   * silent for long.
   */
  async #releaseLost(): Promise<void> {
    const { runs, ledger } = this.#services;
    const here = runs.listStored();
    const held = new Set(await ledger.listHeld());
    void runs.releaseAll(here.filter((responseId) => !held.has(responseId)));
  }

  /** Gives back how many runs were claimed. */
  async #takeUp(): Promise<number> {
    const { runs, ledger } = this.#services;
    const tried = new Set<string>();
    const isHere = (responseId: string): boolean => runs.has(responseId) || tried.has(responseId);
    for (;;) {
      const claimed = await ledger.claimAbandoned(CLAIMS_MAX, isHere);
      await mapSomeAtOnce(claimed, RESUMED_TOGETHER_MAX, async (run) => {
        const responseId = run.response.id;
        tried.add(responseId);
        await this.#resume(run).catch((fault: unknown) => {
          this.#log.error({ err: fault, responseId }, "a run that was left could not be taken up");
        });
      });
      if (claimed.length < CLAIMS_MAX || !this.#takesUp) return tried.size;
    }
  }

  async #resume(run: AbandonedRun): Promise<void> {
    const { runs, eventLog } = this.#services;
    const { id: responseId } = run.response;
    if (runs.has(responseId)) return; // This process began it under a number that it has lost, and goes on with it.
    const events = await allEvents(eventLog, responseId);
    this.#log.info({ responseId, events: events.length, restarts: run.restarts }, "a run that was left is taken up");
    const stored = run.task === null || run.restarts >= RESTARTS_MAX ? null : readTask(run.task);
    if (stored !== null && "task" in stored) return await runs.resume(this.#restartOf(run, stored.task), events, null);
    if (stored !== null) this.#log.error({ responseId, task: stored.problem }, "the task of a run cannot be read here");
    const hindrance = stored === null ? INTERRUPTED_FAILURE : OUTDATED_FAILURE;
    await runs.resume(this.#endOf(run, events), events, hindrance);
  }

  /** How the run is begun again. */
  #restartOf({ owner, response }: AbandonedRun, task: RunTask): RunOrder {
    const { ledger } = this.#services;
    const order = orderOf(this.#services, task, { owner, response, inputItems: [] }, { log: this.#log });
    const ask: RunOrder["ask"] = async (signal) => {
      await ledger.countRestart(response.id); // Before whatever may end the process.
      return await order.ask(signal);
    };
    return { ...order, ask };
  }

  #endOf({ owner, response }: AbandonedRun, events: readonly RecordedEvent[]): RunOrder {
    const opened: OpenedRun = { owner, response, inputItems: [] };
    return endingOrder(this.#services, endingTask(response, events), opened, { log: this.#log });
  }

  /** What cannot be released is claimed all the same once this worker is gone. */
  async #release(responseIds: readonly string[]): Promise<void> {
    const { ledger } = this.#services;
    for (const responseId of responseIds) {
      await ledger.release(responseId).catch((fault: unknown) => {
        this.#log.error({ err: fault, responseId }, "a run could not be left to others");
      });
    }
  }
}

async function allEvents(eventLog: EventLog, responseId: string): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of eventLog.read(responseId, -1)) events.push(...batch);
  return events;
}
