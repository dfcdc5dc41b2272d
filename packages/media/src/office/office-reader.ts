import { isRecord } from "@antiphon/base/json/records.ts";
import type { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { type ReadingLimits, ThreadedReader } from "../threaded-reader.ts";
import type { OfficeOutcome } from "./office-outcome.ts";

const MODULE = new URL("./office-worker.ts", import.meta.url);

/** Reads the text of Office documents. */
export class OfficeReader extends ThreadedReader<OfficeOutcome> {
  constructor(limits: ReadingLimits, slots: Semaphore) {
    super({ module: MODULE, isOutcome }, limits, slots);
  }
}

function isOutcome(value: unknown): value is OfficeOutcome {
  return isRecord(value) && typeof value["type"] === "string";
}
