import { Worker } from "node:worker_threads";

/** One document, and the module that reads it in a thread: it gets `task` as its data and posts one outcome. */
export interface Reading<Outcome> {
  readonly module: URL;
  readonly task: unknown;
  readonly timeoutMs: number;
  readonly isOutcome: (value: unknown) => value is Outcome;
}

/** What may become of reading any document. */
export interface ReadingFailed {
  readonly type: "too_costly" | "broken";
}

const HEAP_MEGABYTES_MAX = 256;

/**
 * Reads in a thread that can be stopped: documents may be made to take time and memory without end. Rejects with the
 * signal's reason if that aborts.
 */
export async function readInThread<Outcome>(
  { module, task, timeoutMs, isOutcome }: Reading<Outcome>,
  signal: AbortSignal,
): Promise<Outcome | ReadingFailed> {
  const worker = new Worker(module, {
    workerData: task,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Outcome | ReadingFailed>();
  const timer = setTimeout(() => resolve({ type: "too_costly" }), timeoutMs);
  const leave = (): void => reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  worker.on("message", (outcome: unknown) => resolve(isOutcome(outcome) ? outcome : { type: "broken" }));
  worker.on("error", (error) => resolve({ type: isOutOfMemory(error) ? "too_costly" : "broken" }));
  // Where it left without a word; after one this says nothing more.
  worker.on("exit", () => resolve({ type: "broken" }));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
    await worker.terminate();
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
