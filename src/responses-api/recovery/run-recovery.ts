import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@antiphon/base/logger.ts";
import { type ClaimContext, RunClaimer } from "./run-claimer.ts";

/** The interval of polling for stop requests, in milliseconds. */
const LOOK_INTERVAL_MS = 1_000;

/** The intervals of the recovery. */
export interface RecoveryPace {
  /** The number of polls per renewal of the lease, so that it is renewed well before it expires. */
  readonly looksPerRenewal: number;
  /** The number of polls per search for runs that nobody makes. */
  readonly looksPerClaim: number;
  /** How long a run waits for a server that can read its task, in milliseconds. Default: an hour. */
  readonly unreadableMs?: number;
}

const USUAL_PACE: RecoveryPace = { looksPerRenewal: 5, looksPerClaim: 5 };

/** How long the number of waiting runs is cached, in milliseconds. */
const COUNT_MS = 1_000;
/**
 * How long `start` waits for the recovery of abandoned runs, in milliseconds. The rest continues while requests are
 * served.
 */
const START_WAIT_MS = 2_000;

/** Renews this worker's lease, recovers abandoned runs, and stops runs on request. */
export class RunRecovery {
  readonly #context: ClaimContext;
  readonly #log: Logger;
  readonly #pace: RecoveryPace;
  readonly #claimer: RunClaimer;
  #timer: NodeJS.Timeout | null = null;
  #look: Promise<void> = Promise.resolve();
  /** Resolves when no claim is in progress: a run claimed twice at the same time would be made twice. */
  #claims: Promise<unknown> = Promise.resolve();
  #isAboutToClaim = false;
  #looks = 0;
  #mayClaim = true;
  #isClosed = false;

  constructor(context: ClaimContext, log: Logger, pace = USUAL_PACE) {
    this.#pace = pace;
    this.#context = context;
    this.#log = log;
    this.#claimer = new RunClaimer(context, log, () => this.lookForWork(), pace.unreadableMs);
    context.runs.requests.onChange((responseId) => this.#lookAfterRequest(responseId));
  }

  /**
   * Recovers abandoned runs, then repeats its work on a timer. Resolves once each abandoned run has ended or waits in
   * the queue, or after `waitMs` milliseconds. Rejects if recovery fails earlier.
   */
  async start(waitMs = START_WAIT_MS): Promise<void> {
    const recovery = this.#recoverAll();
    let isStarting = true;
    this.#look = recovery.then(
      () => this.#schedule(),
      (fault: unknown) => {
        if (isStarting) return; // `start` rejects with it.
        this.#logFault(fault);
        this.#schedule();
      },
    );
    const outOfTime = new AbortController();
    const late = sleep(waitMs, true, { signal: outOfTime.signal }).catch(() => false);
    const isLate = await Promise.race([recovery.then(() => false), late]).finally(() => outOfTime.abort());
    isStarting = false;
    if (isLate) this.#log.info({ waitedMs: waitMs }, "serving requests while abandoned runs are still being recovered");
  }

  /** Checks these runs for requests of clients and for deletion now instead of at the next poll. */
  lookForStops(responseIds: readonly string[]): void {
    if (responseIds.some((responseId) => this.#context.runs.has(responseId))) void this.#lookForRequests();
  }

  /** Never rejects. */
  async #lookForRequests(): Promise<void> {
    try {
      await this.#heedRequests();
      await this.#releaseLost();
    } catch (fault) {
      this.#logFault(fault);
    }
  }

  /** Claims runs that nobody makes now instead of at the next poll. */
  lookForWork(): void {
    if (!this.#mayClaim || this.#isAboutToClaim) return;
    this.#isAboutToClaim = true;
    const look = async (): Promise<void> => {
      await this.#claims;
      this.#isAboutToClaim = false;
      if (!this.#mayClaim) return;
      await this.#claimAndResume();
      await this.#heedRequests();
    };
    void look().catch((fault: unknown) => this.#logFault(fault));
  }

  /**
   * Shares waiting background runs with other servers: runs without a place here are released at once, and each free
   * place takes any released run.
   */
  shareQueue(): void {
    const { runs, ledger } = this.#context;
    const waiting = new CachedCount(() => ledger.countWaiting(), COUNT_MS);
    runs.shareQueue({
      count: () => waiting.read(),
      take: (responseIds) => {
        waiting.add(responseIds.length); // Until they are counted.
        void this.#claimer.release(responseIds, () => ({ hadBegun: false }));
      },
      hasPlace: () => this.lookForWork(),
    });
  }

  /** Stops recovering runs and releases the queued background runs to other workers. Running ones continue here. */
  async stopClaiming(): Promise<void> {
    this.#mayClaim = false;
    await this.#look;
    await this.#claims;
    await this.#claimer.release(await this.#context.runs.closeQueue(), () => ({ hadBegun: false }));
  }

  /** Waits until the runs have ended or `until` aborts, releases the rest to other workers, and stops the timer. */
  async close(until: AbortSignal): Promise<void> {
    const { runs } = this.#context;
    if (!(await runs.idle(until))) {
      const runIds = runs.listStored();
      const begunIds = new Set(runIds.filter((responseId) => runs.hasBegun(responseId)));
      await runs.releaseAll(runs.list());
      await this.#claimer.release(runIds, (responseId) => ({ hadBegun: begunIds.has(responseId) }));
    }
    this.#isClosed = true;
    this.#claimer.close();
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
    const { ledger } = this.#context;
    this.#looks += 1;
    const isRenewal = this.#looks % this.#pace.looksPerRenewal === 0;
    if (isRenewal && !(await ledger.renewLease()))
      this.#log.warn({}, "lease expired: another server may have claimed this server's runs");
    await this.#heedRequests();
    if (this.#mayClaim && this.#looks % this.#pace.looksPerClaim === 0) await this.#claimAndResume();
    if (isRenewal) await this.#releaseLost();
  }

  /** Stops runs, takes paused ones out of the queue, and notes the other requests, which runs heed by themselves. */
  async #heedRequests(): Promise<void> {
    const { runs, ledger } = this.#context;
    if (runs.list().length === 0) return; // An idle server does not ask the database each second.
    const requests = await ledger.listRequests();
    runs.requests.replace(requests);
    for (const { responseId } of requests.filter(({ stops }) => stops)) void runs.stop(responseId);
    const pausedIds = requests.filter(({ pauses, stops }) => pauses && !stops).map(({ responseId }) => responseId);
    await this.#claimer.leaveWaiting(
      pausedIds.filter((responseId) => runs.has(responseId) && !runs.hasBegun(responseId)),
    );
  }

  /** A client asks something of a run that this process makes, or that nobody makes. */
  async #lookAfterRequest(responseId: string): Promise<void> {
    if (this.#context.runs.has(responseId)) await this.#lookForRequests();
    else this.lookForWork();
  }

  /**
   * Stops runs that were deleted or claimed by another worker. Otherwise, they would notice only at their next write.
   */
  async #releaseLost(): Promise<void> {
    const { runs, ledger } = this.#context;
    const here = runs.listStored();
    const heldIds = new Set(await ledger.listHeld());
    void runs.releaseAll(here.filter((responseId) => !heldIds.has(responseId)));
    this.#claimer.forgetLost(heldIds);
  }

  /** Claims and resumes abandoned runs when it is this call's turn. Returns their number. */
  #claimAndResume(): Promise<number> {
    const claim = this.#claims.then(() => this.#claimer.claimAll(() => this.#mayClaim));
    this.#claims = claim.catch(() => {}); // The caller handles the rejection.
    return claim;
  }
}

/** A number that is looked up at most once per period. */
class CachedCount {
  readonly #look: () => Promise<number>;
  readonly #keptMs: number;
  #count: Promise<number> | null = null;
  #until = 0;

  constructor(look: () => Promise<number>, keptMs: number) {
    this.#look = look;
    this.#keptMs = keptMs;
  }

  read(): Promise<number> {
    if (this.#count !== null && performance.now() < this.#until) return this.#count;
    this.#until = performance.now() + this.#keptMs;
    this.#count = this.#look();
    this.#count.catch(() => {
      this.#until = 0; // The next caller retries.
    });
    return this.#count;
  }

  /** Adds to the cached number. */
  add(more: number): void {
    this.#count = this.#count?.then((count) => count + more) ?? null;
    this.#count?.catch(() => {}); // The first promise has already rejected.
  }
}
