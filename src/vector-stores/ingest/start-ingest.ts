import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@antiphon/base/logger.ts";
import { ChunkThread } from "../chunks/chunk-thread.ts";
import { IngestFailed } from "../ingest-failed.ts";
import type { IngestQueue, IngestTask } from "../ports/ingest.ts";
import type { VectorRenewal } from "../ports/vectors.ts";
import { type FileIngest, ingestFile } from "./ingest-file.ts";
import { renewVectors } from "./renew-vectors.ts";

/**
 * How an ingestion ended. `lost`: the file was removed or cancelled; `returned`: the server stopped or could not
 * continue.
 */
export type IngestOutcome = "completed" | "unsupported_file" | "invalid_file" | "server_error" | "lost" | "returned";

/** Observes ingestion, for metrics. */
export interface FileIngestObserver {
  noteEnd(outcome: IngestOutcome): void;
  /** The number of files waiting or being ingested, in all processes. */
  waiting(files: number): void;
}

export interface IngestParts extends FileIngest {
  /** Null if another process renews vectors. */
  readonly renewal: VectorRenewal | null;
  readonly queue: IngestQueue;
  readonly observer: FileIngestObserver;
  readonly log: Logger;
  /** The number of concurrent ingestions. */
  readonly workers: number;
}

export interface Ingest {
  /** Notifies that files wait. */
  wake(): void;
  /** Requeues unfinished files and ends the threads. */
  stop(): Promise<void>;
}

/** How often the queue is looked at for files of other processes and of dead ones, in milliseconds. */
const INTERVAL_MS = 5_000;
/** How long an idle thread is kept: it takes a moment to start, and some megabytes of memory. */
const THREAD_IDLE_MS = 60_000;
const RENEWAL_PAUSE_MS = 60_000;
/** The pause after a database fault, in milliseconds. */
const FAULT_PAUSE_MS = 1_000;
/**
 * Limits of reading a document. The CPU time is a little more than that of the slowest honest documents; a hostile one
 * of a few kilobytes ends after 10 s. The token limit of a file is the reference's.
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

/** Ingests waiting files until it is stopped. A file ends as completed or failed, or goes back to the queue. */
export function startIngest(parts: IngestParts): Ingest {
  const stopping = new AbortController();
  const workers = Array.from({ length: parts.workers }, () => new IngestWorker(parts, stopping.signal));
  const tasks = [...workers.map((worker) => worker.run()), renewRegularly(parts, stopping.signal)];
  return {
    wake: () => {
      for (const worker of workers) worker.wake();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(tasks);
    },
  };
}

/** Renews vectors at the start, and again later if that failed or if files came without vectors. */
async function renewRegularly({ renewal, embedder, log }: IngestParts, stopping: AbortSignal): Promise<void> {
  if (renewal === null || embedder === null) return;
  while (!stopping.aborted) {
    await renewVectors({ renewal, embedder, log }, stopping).catch((fault: unknown) => {
      if (!stopping.aborted) log.error({ err: fault }, "renewing vectors failed; retrying");
    });
    await sleep(RENEWAL_PAUSE_MS, null, { signal: stopping, ref: false }).catch(() => null);
  }
}

/** Ingests one file after the other. */
class IngestWorker {
  readonly #parts: IngestParts;
  readonly #stopping: AbortSignal;
  readonly #thread = new ChunkThread(LIMITS);
  readonly #wakeUp = new WakeUp();
  /** Files that could not be requeued, because the database did not respond. */
  #debts: IngestTask[] = [];

  constructor(parts: IngestParts, stopping: AbortSignal) {
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
        log.error({ err: fault }, "file ingestion interrupted; retrying");
        await sleep(FAULT_PAUSE_MS, null, { signal: stopping }).catch(() => null);
      }
    }
    await this.#thread.close();
    await this.#giveBack().catch((fault: unknown) => {
      log.error({ err: fault }, "file could not be requeued; it is ingested once this process is known to be gone");
    });
  }

  /** Returns false if no file waits. */
  async #takeInNext(): Promise<boolean> {
    const { queue, observer } = this.#parts;
    await this.#giveBack();
    const task = await queue.claim();
    observer.waiting(await queue.count());
    if (task === null) return false;
    this.#debts.push(task);
    await this.#takeIn(task);
    this.#debts = this.#debts.filter((debt) => debt !== task);
    return true;
  }

  async #takeIn(task: IngestTask): Promise<void> {
    const { queue, observer, log } = this.#parts;
    const { fileId, storeId } = task;
    const begunAt = performance.now();
    const outcome = await this.#outcomeOf(task).catch((fault: unknown) => {
      observer.noteEnd("returned");
      throw fault;
    });
    const isHeld = outcome !== "lost" && (await queue.finish(task, outcome));
    const outcomeName =
      outcome === "lost" || !isHeld ? "lost" : outcome.type === "failed" ? outcome.error.code : "completed";
    observer.noteEnd(outcomeName);
    log.info(
      { fileId, storeId, outcome: outcomeName, ms: Math.round(performance.now() - begunAt) },
      "file ingestion ended",
    );
  }

  async #outcomeOf(task: IngestTask) {
    try {
      const result = await ingestFile(this.#parts, this.#thread, task, this.#stopping);
      return result === "lost" ? result : ({ type: "completed" } as const);
    } catch (error) {
      if (!(error instanceof IngestFailed)) throw error;
      if (error.cause !== undefined && error.cause !== null)
        this.#parts.log.warn({ err: error.cause, fileId: task.fileId }, "file cannot be ingested");
      return { type: "failed", error: error.error } as const;
    }
  }

  async #giveBack(): Promise<void> {
    const why = this.#stopping.aborted ? "stopping" : "fault";
    for (const task of this.#debts) await this.#parts.queue.release(task, why);
    this.#debts = [];
  }
}

/** Wakes one sleeper. A call without a sleeper ends the next sleep at once. */
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
