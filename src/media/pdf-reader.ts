import { Worker } from "node:worker_threads";
import { isRecord } from "../base/records.ts";
import { Slots } from "../base/slots.ts";
import type { PdfOutcome, PdfTask } from "./pdf-outcome.ts";

/** What reading one document may take. */
export interface PdfLimits {
  readonly pagesMax: number;
  readonly charactersMax: number;
  /** For one document, from when its turn has come. */
  readonly timeoutMs: number;
}

const HEAP_MEGABYTES_MAX = 256;
/** Documents that are read at the same time; others wait, for as long as their callers do. */
const READERS_MAX = 2;

/** Reads the text of PDFs, each in a thread of its own that can be stopped: documents may be made to take time and memory without end. */
export class PdfReader {
  readonly #limits: PdfLimits;
  readonly #slots = new Slots(READERS_MAX);

  constructor(limits: PdfLimits) {
    this.#limits = limits;
  }

  /** Rejects with the signal's reason if that aborts. */
  async read(bytes: Uint8Array, signal: AbortSignal): Promise<PdfOutcome> {
    const giveBack = await this.#slots.take(signal);
    try {
      const { pagesMax, charactersMax, timeoutMs } = this.#limits;
      return await readInThread({ bytes, pagesMax, charactersMax }, timeoutMs, signal);
    } finally {
      giveBack();
    }
  }
}

async function readInThread(task: PdfTask, timeoutMs: number, signal: AbortSignal): Promise<PdfOutcome> {
  const worker = new Worker(new URL("./pdf-worker.ts", import.meta.url), {
    workerData: task,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
  });
  const { promise, resolve, reject } = Promise.withResolvers<PdfOutcome>();
  const timer = setTimeout(() => resolve({ type: "too_costly" }), timeoutMs);
  const leave = (): void => reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  worker.on("message", (outcome: unknown) => resolve(isOutcome(outcome) ? outcome : { type: "broken" }));
  worker.on("error", (error) => resolve({ type: isOutOfMemory(error) ? "too_costly" : "broken" }));
  worker.on("exit", () => resolve({ type: "broken" })); // Where it left without a word; after one this says nothing more.
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
    await worker.terminate();
  }
}

function isOutcome(value: unknown): value is PdfOutcome {
  return isRecord(value) && typeof value["type"] === "string";
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
