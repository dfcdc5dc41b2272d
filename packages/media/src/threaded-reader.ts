import type { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { type CpuLimit, cpuMsFor, type ReadingFailed, type ReadJob, readInThread } from "./read-in-thread.ts";

/** Limits of reading one document. */
export interface ReadingLimits {
  readonly charactersMax: number;
  /** Limit in milliseconds, without the wait for a slot. */
  readonly timeoutMs: number;
  /** The CPU time limit; none if absent. */
  readonly cpu?: CpuLimit;
}

/** The module that reads one kind of document. Its task contains the bytes and all limits except the time limit. */
export type DocumentKind<Outcome> = Pick<ReadJob<Outcome>, "module" | "isOutcome">;

/**
 * Reads the text of documents of one kind, each in its own thread. Documents without a free slot wait until their
 * caller aborts.
 */
export class ThreadedReader<Outcome> {
  readonly #kind: DocumentKind<Outcome>;
  readonly #limits: ReadingLimits;
  readonly #slots: Semaphore;

  constructor(kind: DocumentKind<Outcome>, limits: ReadingLimits, slots: Semaphore) {
    this.#kind = kind;
    this.#limits = limits;
    this.#slots = slots;
  }

  /** Rejects with the signal's reason if the signal aborts. */
  async read(bytes: Uint8Array, signal: AbortSignal): Promise<Outcome | ReadingFailed> {
    const giveBack = await this.#slots.take(signal);
    try {
      const { timeoutMs, cpu, ...limits } = this.#limits;
      const cpuMs = cpu === undefined ? undefined : cpuMsFor(cpu, bytes.length);
      return await readInThread({ ...this.#kind, task: { bytes, ...limits }, timeoutMs, cpuMs }, signal);
    } finally {
      giveBack();
    }
  }
}
