import type { Logger } from "../base/logger.ts";
import type { RunHost } from "../runs/index.ts";
import type { AbandonedRun, EventLog, OpenedRun, RecordedEvent, RunLedger } from "../runs/ports.ts";
import { endingOrder, type OrderParts, orderOf } from "./begin-response.ts";
import { endingTask, readTask } from "./run-task.ts";

export interface KeeperParts extends OrderParts {
  readonly runs: RunHost;
  readonly ledger: RunLedger;
  readonly logger: Logger;
}

/** How often the keeper looks whether somebody asked to stop a run. */
const LOOK_INTERVAL_MS = 1_000;
/** How many looks pass between two renewals of the lease; well within its term. */
const LOOKS_PER_RENEWAL = 5;
/** How many abandoned runs are claimed at a time. */
const CLAIMS_MAX = 100;

/** Keeps this process's hold on its runs, and takes up those that nobody holds any more. */
export class RunKeeper {
  readonly #parts: KeeperParts;
  #timer: NodeJS.Timeout | null = null;
  #look: Promise<void> = Promise.resolve();
  #looks = 0;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** Takes up what earlier processes left, then goes on looking. Resolves once every run that was left is ended or waits for its turn. */
  async start(): Promise<void> {
    await this.#takeUp();
    this.#schedule();
  }

  /** Looks no more, and leaves the background runs that wait to other processes. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#look;
    await this.#release(await this.#parts.runs.leaveQueue());
  }

  /** Leaves the runs that are still here to other processes, after as long a wait as is given for them to end. */
  async leave(waitMs: number): Promise<void> {
    const { runs } = this.#parts;
    if (await runs.idle(AbortSignal.timeout(waitMs))) return;
    const left = runs.list();
    await runs.releaseAll(left);
    await this.#release(left);
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#look = this.#lookOnce().catch((fault: unknown) => {
        this.#parts.logger.error({ err: fault }, "the runs of this server could not be looked after");
      });
      void this.#look.then(() => {
        if (this.#timer !== null) this.#schedule();
      });
    }, LOOK_INTERVAL_MS).unref();
  }

  async #lookOnce(): Promise<void> {
    const { runs, ledger, logger } = this.#parts;
    this.#looks += 1;
    for (const responseId of await ledger.listStopsAsked()) void runs.stop(responseId);
    if (this.#looks % LOOKS_PER_RENEWAL !== 0) return;
    if (!(await ledger.renewLease())) {
      logger.warn({ runs: runs.list().length }, "this server was taken for dead, and its runs with it");
      await runs.releaseAll(runs.list());
    }
    await this.#takeUp();
  }

  async #takeUp(): Promise<void> {
    const { ledger, logger } = this.#parts;
    for (;;) {
      const claimed = await ledger.claimAbandoned(CLAIMS_MAX);
      for (const run of claimed) {
        await this.#resume(run).catch((fault: unknown) => {
          logger.error({ err: fault, responseId: run.response.id }, "a run that was left could not be taken up");
        });
      }
      if (claimed.length < CLAIMS_MAX) return;
    }
  }

  async #resume({ owner, response, task }: AbandonedRun): Promise<void> {
    const { runs, log, logger } = this.#parts;
    const events = await allEvents(log, response.id);
    const opened: OpenedRun = { owner, response, inputItems: [] };
    const order =
      task === null
        ? endingOrder(this.#parts, endingTask(response, events), opened, { log: logger })
        : orderOf(this.#parts, readTask(task), opened, { log: logger });
    const run = runs.resume(order, events, task !== null);
    await run.events.return(undefined); // Nobody reads along yet.
    logger.info({ responseId: response.id, events: events.length }, "a run that was left is taken up");
  }

  async #release(responseIds: readonly string[]): Promise<void> {
    for (const responseId of responseIds) await this.#parts.ledger.release(responseId);
  }
}

async function allEvents(log: EventLog, responseId: string): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of log.read(responseId, -1)) events.push(...batch);
  return events;
}
