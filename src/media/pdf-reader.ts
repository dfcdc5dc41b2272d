import { isRecord } from "../base/json/records.ts";
import type { Semaphore } from "../base/limits/semaphore.ts";
import type { PdfOutcome } from "./pdf-outcome.ts";
import { readInThread } from "./read-in-thread.ts";

/** What reading one document may take. */
export interface PdfLimits {
  readonly pagesMax: number;
  readonly charactersMax: number;
  /** For one document, from when its turn has come. */
  readonly timeoutMs: number;
}

const MODULE = new URL("./pdf-worker.ts", import.meta.url);

/**
 * Reads the text of PDFs, each in a thread of its own. Those that find no free slot wait, for as long as their callers
 * do.
 */
export class PdfReader {
  readonly #limits: PdfLimits;
  readonly #slots: Semaphore;

  constructor(limits: PdfLimits, slots: Semaphore) {
    this.#limits = limits;
    this.#slots = slots;
  }

  /** Rejects with the signal's reason if that aborts. */
  async read(bytes: Uint8Array, signal: AbortSignal): Promise<PdfOutcome> {
    const giveBack = await this.#slots.take(signal);
    try {
      const { pagesMax, charactersMax, timeoutMs } = this.#limits;
      const task = { bytes, pagesMax, charactersMax };
      return await readInThread({ module: MODULE, task, timeoutMs, isOutcome }, signal);
    } finally {
      giveBack();
    }
  }
}

function isOutcome(value: unknown): value is PdfOutcome {
  return isRecord(value) && typeof value["type"] === "string";
}
