import { isRecord } from "../../base/json/records.ts";
import type { Semaphore } from "../../base/limits/semaphore.ts";
import { readInThread } from "../read-in-thread.ts";
import type { OfficeOutcome } from "./office-outcome.ts";

/** What reading one document may take. */
export interface OfficeLimits {
  readonly charactersMax: number;
  /** For one document, from when its turn has come. */
  readonly timeoutMs: number;
}

const MODULE = new URL("./office-worker.ts", import.meta.url);

/**
 * Reads the text of Office documents, each in a thread of its own. Those that find no free slot wait, for as long as
 * their callers do.
 */
export class OfficeReader {
  readonly #limits: OfficeLimits;
  readonly #slots: Semaphore;

  constructor(limits: OfficeLimits, slots: Semaphore) {
    this.#limits = limits;
    this.#slots = slots;
  }

  /** Rejects with the signal's reason if that aborts. */
  async read(bytes: Uint8Array, signal: AbortSignal): Promise<OfficeOutcome> {
    const giveBack = await this.#slots.take(signal);
    try {
      const { charactersMax, timeoutMs } = this.#limits;
      return await readInThread({ module: MODULE, task: { bytes, charactersMax }, timeoutMs, isOutcome }, signal);
    } finally {
      giveBack();
    }
  }
}

function isOutcome(value: unknown): value is OfficeOutcome {
  return isRecord(value) && typeof value["type"] === "string";
}
