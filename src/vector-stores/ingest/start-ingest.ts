import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@antiphon/base/logger.ts";
import { WakeUp } from "@antiphon/base/streams/wake-up.ts";
import { ChunkThread } from "../chunks/chunk-thread.ts";
import { IngestFailed } from "../ingest-failed.ts";
import type { IngestQueue, IngestTask } from "../ports/ingest.ts";
import type { Embedder, VectorRenewal } from "../ports/vectors.ts";
import { type FileIngest, ingestFile } from "./ingest-file.ts";
import { PassageBatches } from "./passage-batches.ts";
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

export interface IngestParts extends Omit<FileIngest, "embedder"> {
  /** Null if the server searches by words only. */
  readonly embedder: Embedder | null;
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
/** The maximum files of a worker that are read and whose vectors are awaited. Each holds up to a batch of chunks. */
const FILES_AHEAD_MAX = 32;
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
  const { embedder } = parts;
  const batches = embedder === null ? null : new PassageBatches(embedder, parts.workers, stopping.signal);
  const workers = Array.from({ length: parts.workers }, () => new IngestWorker(parts, batches, stopping.signal));
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

/** Reads one file after the other. The vectors of small files are awaited together, while further ones are read. */
class IngestWorker {
  readonly #parts: IngestParts;
  readonly #batches: PassageBatches | null;
  readonly #stopping: AbortSignal;
  readonly #thread = new ChunkThread(LIMITS);
  readonly #wakeUp = new WakeUp();
  /** Files that are read or whose vectors are awaited. These promises never reject. */
  readonly #underway = new Set<Promise<void>>();
  /** Ingestions that ended with a fault. */
  #faults: unknown[] = [];
  /** Files that could not be requeued, because the database did not respond. */
  #debts: IngestTask[] = [];

  constructor(parts: IngestParts, batches: PassageBatches | null, stopping: AbortSignal) {
    this.#parts = parts;
    this.#batches = batches;
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
    await Promise.all(this.#underway);
    await this.#thread.close();
    await this.#giveBack().catch((fault: unknown) => {
      log.error({ err: fault }, "file could not be requeued; it is ingested once this process is known to be gone");
    });
  }

  /** Resolves once the next file can be read. Returns false if no file waits. Throws the fault of an earlier file. */
  async #takeInNext(): Promise<boolean> {
    const { queue, observer } = this.#parts;
    const [fault] = this.#faults.splice(0);
    if (fault !== undefined) throw fault;
    await this.#giveBack();
    const task = await queue.claim();
    observer.waiting(await queue.count());
    if (task === null) return false;
    await this.#begin(task);
    while (this.#underway.size >= FILES_AHEAD_MAX) await Promise.race(this.#underway);
    return true;
  }

  /** Begins with a file. Resolves once the thread has read it, or its ingestion has ended. */
  async #begin(task: IngestTask): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const ingestion = this.#takeIn(task, resolve)
      .catch((fault: unknown) => {
        this.#debts.push(task);
        this.#faults.push(fault);
        this.wake();
      })
      .finally(() => {
        this.#underway.delete(ingestion);
        resolve();
      });
    this.#underway.add(ingestion);
    await promise;
  }

  async #takeIn(task: IngestTask, noteRead: () => void): Promise<void> {
    const { queue, observer, log } = this.#parts;
    const { fileId, storeId } = task;
    const begunAt = performance.now();
    const outcome = await this.#outcomeOf(task, noteRead).catch((fault: unknown) => {
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

  async #outcomeOf(task: IngestTask, noteRead: () => void) {
    const parts = { ...this.#parts, embedder: this.#batches };
    try {
      const result = await ingestFile(parts, watchReading(this.#thread, noteRead), task, this.#stopping);
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
    for (let task = this.#debts[0]; task !== undefined; task = this.#debts[0]) {
      await this.#parts.queue.release(task, why);
      this.#debts = this.#debts.filter((debt) => debt !== task);
    }
  }
}

/** The same thread. `noteRead` is called when it has read the file. */
function watchReading(thread: ChunkThread, noteRead: () => void): Pick<ChunkThread, "chunksOf"> {
  return {
    async *chunksOf(task, signal) {
      yield* thread.chunksOf(task, signal);
      noteRead();
    },
  };
}
