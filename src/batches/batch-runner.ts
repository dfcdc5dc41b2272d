import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@antiphon/base/logger.ts";
import { UnknownHolds } from "@antiphon/base/streams/unknown-holds.ts";
import { WakeUp } from "@antiphon/base/streams/wake-up.ts";
import type { BatchWork, HeldBatch, HeldLine } from "@antiphon/domain/batches/batch-work.ts";
import { checkBatch } from "./check-batch.ts";
import { clearBatch, finishBatch } from "./finish-batch.ts";
import { LineRuns, lineOutcomeOf } from "./line-answer.ts";
import type { BatchParts, LineAnswer } from "./ports.ts";

/** How often the queue is looked at for work of other processes and of dead ones, in milliseconds. */
const INTERVAL_MS = 5_000;
/** The same while a batch is open. */
const OPEN_INTERVAL_MS = 1_000;
/** The pause after a database fault, and after a fault in the work on a batch, in milliseconds. */
const FAULT_PAUSE_MS = 1_000;
const WORK_PAUSE_MS = 30_000;
/** The first and the longest pause before a line is tried again, in milliseconds. */
const LINE_PAUSE_MS = 5_000;
const LINE_PAUSE_MS_MAX = 300_000;
/** How often a line is tried whose request meets a fault of another server: for about half an hour. */
const ATTEMPTS_MAX = 12;

/** The lines that may be answered at once beside these other runs. Batches always go on, if slowly. */
export function linesAllowed(linesMax: number, otherRuns: number): number {
  return Math.max(1, linesMax - otherRuns);
}

/** The pause before a line is tried again, in milliseconds; null if it is not. `attempts`: those so far. */
export function linePauseAfter(fault: LineAnswer["passingFault"], attempts: number): number | null {
  if (fault === null || (fault === "outage" && attempts + 1 >= ATTEMPTS_MAX)) return null;
  return Math.min(LINE_PAUSE_MS_MAX, LINE_PAUSE_MS * 2 ** Math.min(attempts, 10));
}

/**
 * Works on batches until it is stopped: checks their files, answers their lines, and writes what came out. Several
 * processes of one database share the work. Other runs come first: each takes the place of a line.
 */
export class BatchRunner {
  readonly #parts: BatchParts;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  readonly #wakeUp = new WakeUp();
  /** The lines that are answered. These promises never reject. */
  readonly #lines = new Map<HeldLine, Promise<void>>();
  /** The ids of their responses. */
  readonly #lineRuns = new Set<string>();
  #work: { readonly batch: HeldBatch; readonly done: Promise<void> } | null = null;
  /** What this process holds and does not work on. */
  readonly #unknownHolds = new UnknownHolds(() => this.#releaseUnknown());
  readonly #running: Promise<void>;

  constructor(parts: BatchParts, log: Logger) {
    this.#parts = parts;
    this.#log = log;
    parts.store.queue.listen(() => this.#wakeUp.wake());
    this.#running = this.#run();
  }

  /** Leaves all work to others. Responses of lines that have begun go on. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#unknownHolds.free();
        const open = await this.#parts.store.queue.look();
        if (open > 0) await this.#begin();
        await this.#wakeUp.wait(open > 0 ? OPEN_INTERVAL_MS : INTERVAL_MS, signal);
      } catch (fault) {
        this.#unknownHolds.suspect();
        if (signal.aborted) break;
        this.#log.error({ err: fault }, "work on batches was interrupted; retrying");
        await sleep(FAULT_PAUSE_MS, null, { signal }).catch(() => null);
      }
    }
    await Promise.all([...this.#lines.values(), this.#work?.done]);
    await this.#unknownHolds.free().catch((fault: unknown) => {
      this.#log.error({ err: fault }, "work on batches could not be left; others go on once this process is gone");
    });
  }

  /** Begins all that can be begun now. */
  async #begin(): Promise<void> {
    const { store, load, linesMax, observer } = this.#parts;
    if (this.#work === null) {
      const work = await store.queue.claimWork();
      if (work !== null) this.#work = { batch: work.batch, done: this.#do(work) };
    }
    for (;;) {
      const linesNow = linesAllowed(linesMax, load.countExcept(this.#lineRuns));
      if (this.#stopping.signal.aborted || !load.hasFreePlace() || this.#lines.size >= linesNow) return;
      const line = await store.lines.claim();
      if (line === null) return;
      const answering = this.#answer(line).finally(() => {
        this.#lines.delete(line);
        observer.noteLoad(this.#lines.size);
        this.#wakeUp.wake();
      });
      this.#lines.set(line, answering);
      observer.noteLoad(this.#lines.size);
    }
  }

  async #do(work: BatchWork): Promise<void> {
    const { signal } = this.#stopping;
    const { batch } = work;
    try {
      if (work.type === "check") await checkBatch(this.#parts, batch, signal);
      else if (work.type === "finish") await finishBatch(this.#parts, batch, work.ending, signal);
      else await clearBatch(this.#parts, batch, signal);
      if (work.type === "finish") this.#parts.observer.noteEnd(work.ending);
      this.#log.info({ batchId: batch.id, step: work.type }, "a step of a batch is done");
    } catch (fault) {
      if (!signal.aborted)
        this.#log.error({ err: fault, batchId: batch.id }, "the work on a batch was interrupted; retrying");
      const pauseMs = signal.aborted ? 0 : WORK_PAUSE_MS;
      await this.#leave(() => this.#parts.store.queue.releaseWork(batch, pauseMs));
    } finally {
      this.#work = null;
      this.#wakeUp.wake();
    }
  }

  async #answer(line: HeldLine): Promise<void> {
    const { lines } = this.#parts.store;
    try {
      await this.#settle(line);
    } catch (fault) {
      const { aborted } = this.#stopping.signal;
      if (!aborted)
        this.#log.error({ err: fault, batchId: line.batchId, line: line.line }, "a line was not settled; retrying");
      const pauseMs = aborted ? 0 : LINE_PAUSE_MS;
      await this.#leave(() => lines.release(line, pauseMs, false));
    }
  }

  async #settle(line: HeldLine): Promise<void> {
    const { store, door, observer } = this.#parts;
    const runs = await LineRuns.open(store.lines, line, this.#lineRuns);
    const answer = await door.answer(line, runs, this.#stopping.signal).finally(() => runs.leave());
    const pauseMs = runs.mayRepeat ? linePauseAfter(answer.passingFault, line.attempts) : null;
    if (pauseMs !== null) {
      observer.noteLine("put_off");
      return await store.lines.release(line, pauseMs, true);
    }
    const outcome = lineOutcomeOf(line, answer);
    const isHeld = await store.lines.settle(line, outcome);
    observer.noteLine(isHeld ? outcome.state : "lost");
    for (const responseId of isHeld ? runs.unkept() : []) {
      await door.removeResponse(line.owner, responseId);
      await store.lines.forgetRun(responseId);
    }
  }

  /** Leaves something to others, now or when the database is back. */
  async #leave(release: () => Promise<void>): Promise<void> {
    await release().catch(() => {
      this.#unknownHolds.suspect();
    });
  }

  async #releaseUnknown(): Promise<void> {
    const { queue, lines } = this.#parts.store;
    await queue.releaseOthers(this.#work?.batch ?? null);
    await lines.releaseOthers([...this.#lines.keys()]);
  }
}
