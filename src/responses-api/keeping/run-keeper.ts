import { setTimeout as sleep } from "node:timers/promises";
import { mapSomeAtOnce } from "../../base/limits/map-some-at-once.ts";
import type { Logger } from "../../base/logger.ts";
import { INTERRUPTED_FAILURE, OUTDATED_FAILURE, type RunOrder } from "../../runs/index.ts";
import type { AbandonedRun, EventLog, OpenedRun, RecordedEvent } from "../../runs/ports.ts";
import { endingOrder, type OrderServices, orderOf } from "../create/begin-response.ts";
import type { ResponseServices } from "../services.ts";
import { endingTask, type RunTask } from "./run-task.ts";
import { toolSecrets } from "./seal-tools.ts";
import { readTask } from "./stored-task.ts";

/** The services that the keeper needs. */
export type KeeperServices = OrderServices & Pick<ResponseServices, "runs" | "ledger" | "neighbours">;

/** How often the keeper reads the requests to stop a run, in milliseconds. */
const LOOK_INTERVAL_MS = 1_000;

/** How often the keeper works. */
export interface KeeperPace {
  /** The number of looks between two renewals of the lease, so that it is renewed well before it expires. */
  readonly looksPerRenewal: number;
  /** The number of looks between two searches for runs that nobody makes. */
  readonly looksPerClaim: number;
}

const USUAL_PACE: KeeperPace = { looksPerRenewal: 5, looksPerClaim: 5 };

/** For how long the number of waiting runs is remembered, in milliseconds. */
const COUNT_MS = 1_000;
/** The maximum of abandoned runs claimed at a time. Each brings its whole request into memory. */
const CLAIMS_MAX = 20;
/** The maximum of claimed runs whose events are in memory at the same time. */
const RESUMED_TOGETHER_MAX = 5;
/**
 * How long `start` waits for the recovery of abandoned runs, in milliseconds. The rest continues while requests are
 * served.
 */
const START_WAIT_MS = 2_000;
/** The maximum restarts of a run. A run restarted this often may itself be crashing the process. */
const RESTARTS_MAX = 3;

/** Renews this worker's lease, recovers abandoned runs, and stops runs on request. */
export class RunKeeper {
  readonly #services: KeeperServices;
  readonly #log: Logger;
  readonly #pace: KeeperPace;
  #timer: NodeJS.Timeout | null = null;
  #look: Promise<void> = Promise.resolve();
  /** Resolves when nothing is being claimed: a run that is claimed twice at the same time would be made twice. */
  #claims: Promise<unknown> = Promise.resolve();
  #isAboutToClaim = false;
  #looks = 0;
  #mayClaim = true;
  #isClosed = false;

  constructor(services: KeeperServices, log: Logger, pace = USUAL_PACE) {
    this.#pace = pace;
    this.#services = services;
    this.#log = log;
  }

  /**
   * Recovers abandoned runs, then repeats its work on a timer. Resolves once each abandoned run has ended or waits in
   * the queue, or after `waitMs` milliseconds. Rejects if recovery fails before that.
   */
  async start(waitMs = START_WAIT_MS): Promise<void> {
    const done = this.#recoverAll();
    let isStarting = true;
    this.#look = done.then(
      () => this.#schedule(),
      (fault: unknown) => {
        if (isStarting) return; // `start` rejects with it.
        this.#logFault(fault);
        this.#schedule();
      },
    );
    const outOfTime = new AbortController();
    const late = sleep(waitMs, true, { signal: outOfTime.signal }).catch(() => false);
    const isLate = await Promise.race([done.then(() => false), late]).finally(() => outOfTime.abort());
    isStarting = false;
    if (isLate) this.#log.info({ waitedMs: waitMs }, "serving requests while abandoned runs are still being recovered");
  }

  /** Stops those of these runs that others asked to stop or have deleted, now instead of at the next look. */
  lookForStops(responseIds: readonly string[]): void {
    if (!responseIds.some((responseId) => this.#services.runs.has(responseId))) return;
    const look = async (): Promise<void> => {
      await this.#stopAsked();
      await this.#releaseLost();
    };
    void look().catch((fault: unknown) => this.#logFault(fault));
  }

  /** Claims runs that nobody makes, now instead of at the next look. */
  lookForWork(): void {
    if (!this.#mayClaim || this.#isAboutToClaim) return;
    this.#isAboutToClaim = true;
    const look = async (): Promise<void> => {
      await this.#claims;
      this.#isAboutToClaim = false;
      if (!this.#mayClaim) return;
      await this.#claimAndResume();
      await this.#stopAsked();
    };
    void look().catch((fault: unknown) => this.#logFault(fault));
  }

  /**
   * Shares the background runs that wait with other servers: those without a place here are released at once, and each
   * place that becomes free takes one that anybody has released.
   */
  shareQueue(): void {
    const { runs, ledger } = this.#services;
    const waiting = new CachedCount(() => ledger.countWaiting(), COUNT_MS);
    runs.shareQueue({
      count: () => waiting.read(),
      take: (responseIds) => {
        waiting.add(responseIds.length); // Until they are counted.
        void this.#release(responseIds);
      },
      hasPlace: () => this.lookForWork(),
    });
  }

  /** Recovers no more runs and releases the queued background runs to other workers. Running ones continue here. */
  async stopClaiming(): Promise<void> {
    this.#mayClaim = false;
    await this.#look;
    await this.#claims;
    await this.#release(await this.#services.runs.closeQueue());
  }

  /** Waits until the runs have ended or `until` aborts, releases the rest to other workers, and stops the timer. */
  async close(until: AbortSignal): Promise<void> {
    const { runs } = this.#services;
    if (!(await runs.idle(until))) {
      const left = runs.listStored();
      await runs.releaseAll(runs.list());
      await this.#release(left);
    }
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#look;
  }

  async #recoverAll(): Promise<void> {
    const startedAt = performance.now();
    const runs = await this.#claimAndResume();
    const ms = Math.round(performance.now() - startedAt);
    if (runs > 0) this.#log.info({ runs, ms }, "recovered all abandoned runs");
  }

  #logFault(fault: unknown): void {
    this.#log.error({ err: fault }, "could not renew the lease or recover runs");
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#look = this.#lookOnce().catch((fault: unknown) => this.#logFault(fault));
      void this.#look.then(() => {
        if (this.#timer !== null) this.#schedule();
      });
    }, LOOK_INTERVAL_MS).unref();
  }

  async #lookOnce(): Promise<void> {
    const { ledger } = this.#services;
    this.#looks += 1;
    const isRenewal = this.#looks % this.#pace.looksPerRenewal === 0;
    if (isRenewal && !(await ledger.renewLease()))
      this.#log.warn({}, "the lease expired: another server may have claimed this server's runs");
    await this.#stopAsked();
    if (this.#mayClaim && this.#looks % this.#pace.looksPerClaim === 0) await this.#claimAndResume();
    if (isRenewal) await this.#releaseLost();
  }

  async #stopAsked(): Promise<void> {
    const { runs, ledger } = this.#services;
    for (const responseId of await ledger.listStopRequests()) void runs.stop(responseId);
  }

  /**
   * Stops runs that were deleted or claimed by another worker. By themselves they would notice only at their next
   * write.
   */
  async #releaseLost(): Promise<void> {
    const { runs, ledger } = this.#services;
    const here = runs.listStored();
    const held = new Set(await ledger.listHeld());
    void runs.releaseAll(here.filter((responseId) => !held.has(responseId)));
  }

  /** Claims and resumes abandoned runs, once it is this call's turn. Returns how many it claimed. */
  #claimAndResume(): Promise<number> {
    const claim = this.#claims.then(() => this.#claimNow());
    this.#claims = claim.catch(() => {}); // The caller hears of it.
    return claim;
  }

  async #claimNow(): Promise<number> {
    const { runs, ledger, neighbours } = this.#services;
    const tried = new Set<string>();
    const isHere = (responseId: string): boolean => runs.has(responseId) || tried.has(responseId);
    for (;;) {
      const claimed = await ledger.claimAbandoned(CLAIMS_MAX, isHere, runs.placesForWaiting);
      await mapSomeAtOnce(claimed, RESUMED_TOGETHER_MAX, async (run) => {
        const responseId = run.response.id;
        tried.add(responseId);
        await this.#resume(run).catch((fault: unknown) => {
          this.#log.error({ err: fault, responseId }, "could not recover an abandoned run");
        });
      });
      if (claimed.length > 0) neighbours?.tellTaken(claimed.map(({ response }) => response.id));
      if (claimed.length < CLAIMS_MAX || !this.#mayClaim) return tried.size;
    }
  }

  async #resume(run: AbandonedRun): Promise<void> {
    const { runs, eventLog } = this.#services;
    const { id: responseId } = run.response;
    // This process still makes the run. It lost its lease and has claimed the run under its new worker number.
    if (runs.has(responseId)) return;
    const events = await allEvents(eventLog, responseId);
    const hasBegun = run.response.status !== "queued";
    if (hasBegun)
      this.#log.info({ responseId, events: events.length, restarts: run.restarts }, "recovering an abandoned run");
    const secrets = toolSecrets(this.#services.sealer, run.owner, responseId);
    const stored = run.task === null || run.restarts >= RESTARTS_MAX ? null : readTask(run.task, secrets);
    if (stored !== null && "task" in stored) return await runs.resume(this.#restartOf(run, stored.task), events, null);
    if (stored !== null)
      this.#log.error({ responseId, task: stored.problem }, "could not read the stored task of a run");
    const askFailure = stored === null ? INTERRUPTED_FAILURE : OUTDATED_FAILURE;
    await runs.resume(this.#endOf(run, events), events, askFailure);
  }

  /** The order of a run that is restarted from its task. */
  #restartOf({ owner, response }: AbandonedRun, task: RunTask): RunOrder {
    const { ledger } = this.#services;
    const order = orderOf(this.#services, task, { owner, response, inputItems: [] }, { log: this.#log });
    const counted = (ask: RunOrder["ask"]): RunOrder["ask"] => {
      return async (signal, storeNow) => {
        await ledger.countRestart(response.id); // Counted first, because the run may crash the process.
        return await ask(signal, storeNow);
      };
    };
    const resume: RunOrder["resume"] = (shown) => {
      const ask = order.resume?.(shown) ?? null;
      return ask === null ? null : counted(ask);
    };
    return { ...order, ask: counted(order.ask), resume };
  }

  #endOf({ owner, response }: AbandonedRun, events: readonly RecordedEvent[]): RunOrder {
    const opened: OpenedRun = { owner, response, inputItems: [] };
    return endingOrder(this.#services, endingTask(response, events), opened, { log: this.#log });
  }

  /** If a release fails, others claim the run once this worker is dead. */
  async #release(responseIds: readonly string[]): Promise<void> {
    const { ledger, neighbours } = this.#services;
    for (const responseId of responseIds) {
      await ledger.release(responseId).catch((fault: unknown) => {
        this.#log.error({ err: fault, responseId }, "could not release a run to other workers");
      });
    }
    if (responseIds.length > 0) neighbours?.tellWork();
  }
}

/** A number that is looked up at most once in a while. */
class CachedCount {
  readonly #look: () => Promise<number>;
  readonly #keptMs: number;
  #known: Promise<number> | null = null;
  #until = 0;

  constructor(look: () => Promise<number>, keptMs: number) {
    this.#look = look;
    this.#keptMs = keptMs;
  }

  read(): Promise<number> {
    if (this.#known !== null && performance.now() < this.#until) return this.#known;
    this.#until = performance.now() + this.#keptMs;
    this.#known = this.#look();
    this.#known.catch(() => {
      this.#until = 0; // The next caller tries again.
    });
    return this.#known;
  }

  /** Adds to what is known. */
  add(more: number): void {
    this.#known = this.#known?.then((count) => count + more) ?? null;
    this.#known?.catch(() => {}); // The first promise has told of it.
  }
}

async function allEvents(eventLog: EventLog, responseId: string): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of eventLog.read(responseId, -1)) events.push(...batch);
  return events;
}
