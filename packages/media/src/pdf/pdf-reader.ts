import { isRecord } from "@antiphon/base/json/records.ts";
import type { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { type ReadingLimits, ThreadedReader } from "../threaded-reader.ts";
import type { PdfOutcome } from "./pdf-outcome.ts";

export interface PdfLimits extends ReadingLimits {
  readonly pagesMax: number;
}

const MODULE = new URL("./pdf-worker.ts", import.meta.url);

/** Reads the text of PDFs. */
export class PdfReader extends ThreadedReader<PdfOutcome> {
  constructor(limits: PdfLimits, slots: Semaphore) {
    super({ module: MODULE, isOutcome }, limits, slots);
  }
}

function isOutcome(value: unknown): value is PdfOutcome {
  return isRecord(value) && typeof value["type"] === "string";
}
