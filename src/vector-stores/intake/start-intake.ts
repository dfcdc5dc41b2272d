import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../base/logger.ts";
import { ChunkThread } from "../chunks/chunk-thread.ts";
import { IngestFailed } from "../ingest-failed.ts";
import type { IngestQueue, IngestTask, VectorRenewal } from "../ports.ts";
import { renewVectors } from "./renew-vectors.ts";
import { type FileIntake, takeInFile } from "./take-in-file.ts";

/**
 * How taking in a file ended. `lost`: it was removed or cancelled; `returned`: the server stopped or could not go on.
 */
export type IntakeOutcome = "completed" | "unsupported_file" | "invalid_file" | "server_error" | "lost" | "returned";

/** Follows what is taken in, for metrics. */
export interface IntakeObserver {
  ended(outcome: IntakeOutcome): void;
  /** How many files wait or are being taken in, in all processes. */
  waiting(files: number): void;
}

export interface IntakeParts extends FileIntake {
  /** Null if another process renews vectors. */
  readonly renewal: VectorRenewal | null;
  readonly queue: IngestQueue;
  readonly observer: IntakeObserver;
  readonly log: Logger;
  /** How many files are taken in at the same time. */
  readonly workers: number;
}

export interface Intake {
  /** Says that files wait. */
  wake(): void;
  /** Gives unfinished files back and ends the threads. */
  stop(): Promise<void>;
}

/** How often the queue is looked at for files of other processes and of dead ones, in milliseconds. */
const INTERVAL_MS = 5_000;
/** How long a thread without work lasts: it takes a moment to start, and holds some megabytes. */
const THREAD_IDLE_MS = 60_000;
const RENEWAL_PAUSE_MS = 60_000;
/** Pause after a fault of the database, in milliseconds. */
const FAULT_PAUSE_MS = 1_000;
/**
 * Limits of what a document may take to read. The processor time is that of the slowest honest documents and some more;
 * a hostile one of a few kilobytes ends after 10 s. A file's tokens are limited as the reference does.
 */
const LIMITS = {
  limits: {
    charactersMax: 64 * 1024 * 1024,
    pdfPagesMax: 10_000,
    timeoutMs: 120_000,
    cpu: { baseMs: 10_000, msPerMebibyte: 2_000 },
  },
  tokensMax: 5_000_000,
};

/** Takes in files that wait until it is stopped. A file ends as completed or failed, or goes back to the queue. */
export function startIntake(parts: IntakeParts): Intake {
  const stopping = new AbortController();
  const workers = Array.from({ length: parts.workers }, () => new IntakeWorker(parts, stopping.signal));
  const done = [...workers.map((worker) => worker.run()), renewRegularly(parts, stopping.signal)];
  return {
    wake: () => {
      for (const worker of workers) worker.wake();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(done);
    },
  };
}

/** Renews vectors at the start, and again later if that failed or if files came without vectors. */
async function renewRegularly({ renewal, embedder, log }: IntakeParts, stopping: AbortSignal): Promise<void> {
  if (renewal === null || embedder === null) return;
  while (!stopping.aborted) {
    await renewVectors({ renewal, embedder, log }, stopping).catch((fault: unknown) => {
      if (!stopping.aborted) log.error({ err: fault }, "vectors could not be renewed; that is tried again");
    });
    await sleep(RENEWAL_PAUSE_MS, null, { signal: stopping, ref: false }).catch(() => null);
  }
}

/** Takes in one file after the other. */
class IntakeWorker {
  readonly #parts: IntakeParts;
  readonly #stopping: AbortSignal;
  readonly #thread = new ChunkThread(LIMITS);
  readonly #wakeUp = new WakeUp();
  /** Files that could not be given back, because the database did not answer. */
  #owed: IngestTask[] = [];

  constructor(parts: IntakeParts, stopping: AbortSignal) {
    this.#parts = parts;
    this.#stopping = stopping;
  }

  wake(): void {
    this.#wakeUp.wake();
  }

  async run(): Promise<void> {
    const { log } = this.#parts;
    const stopping = this.#stopping;
    let workedAt = performance.now();
    while (!stopping.aborted) {
      try {
        while (!stopping.aborted && (await this.#takeInNext())) workedAt = performance.now();
        if (performance.now() - workedAt > THREAD_IDLE_MS) await this.#thread.close();
        await this.#wakeUp.wait(INTERVAL_MS, stopping);
      } catch (fault) {
        if (stopping.aborted) break;
        log.error({ err: fault }, "taking in files was interrupted, and goes on in a moment");
        await sleep(FAULT_PAUSE_MS, null, { signal: stopping }).catch(() => null);
      }
    }
    await this.#thread.close();
    await this.#giveBack().catch((fault: unknown) => {
      log.error(
        { err: fault },
        "a file could not be given back, and is taken in once this process is known to be gone",
      );
    });
  }

  /** Returns false if no file waits. */
  async #takeInNext(): Promise<boolean> {
    const { queue, observer } = this.#parts;
    await this.#giveBack();
    const task = await queue.claim();
    observer.waiting(await queue.count());
    if (task === null) return false;
    this.#owed.push(task);
    await this.#takeIn(task);
    this.#owed = this.#owed.filter((owed) => owed !== task);
    return true;
  }

  async #takeIn(task: IngestTask): Promise<void> {
    const { queue, observer, log } = this.#parts;
    const { fileId, storeId } = task;
    const begunAt = performance.now();
    const outcome = await this.#outcomeOf(task).catch((fault: unknown) => {
      observer.ended("returned");
      throw fault;
    });
    const isHeld = outcome !== "lost" && (await queue.finish(task, outcome));
    const shown = outcome === "lost" || !isHeld ? "lost" : outcome.type === "failed" ? outcome.error.code : "completed";
    observer.ended(shown);
    log.info(
      { fileId, storeId, outcome: shown, ms: Math.round(performance.now() - begunAt) },
      "taking in a file ended",
    );
  }

  async #outcomeOf(task: IngestTask) {
    try {
      const stored = await takeInFile(this.#parts, this.#thread, task, this.#stopping);
      return stored === "lost" ? stored : ({ type: "completed" } as const);
    } catch (error) {
      if (!(error instanceof IngestFailed)) throw error;
      if (error.cause !== undefined && error.cause !== null)
        this.#parts.log.warn({ err: error.cause, fileId: task.fileId }, "a file cannot be taken in");
      return { type: "failed", error: error.error } as const;
    }
  }

  async #giveBack(): Promise<void> {
    const why = this.#stopping.aborted ? "stopping" : "fault";
    for (const task of this.#owed) await this.#parts.queue.release(task, why);
    this.#owed = [];
  }
}

/** Lets one sleeper be woken. A call that comes while nobody sleeps ends the next sleep at once. */
class WakeUp {
  #isDue = false;
  #end: (() => void) | null = null;

  wake(): void {
    this.#isDue = true;
    this.#end?.();
  }

  /** Resolves when woken, after this time, or when the signal aborts. */
  async wait(timeMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#isDue && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => resolve();
      const timer = setTimeout(end, timeMs);
      signal.addEventListener("abort", end, { once: true });
      this.#end = end;
      await promise;
      this.#end = null;
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
    }
    this.#isDue = false;
  }
}
