import { Worker } from "node:worker_threads";

/**
 * A document to read and the module that reads it in a thread. The module gets `task` as worker data and posts one
 * outcome.
 */
export interface ReadJob<Outcome> {
  readonly module: URL;
  readonly task: unknown;
  readonly timeoutMs: number;
  readonly isOutcome: (value: unknown) => value is Outcome;
}

/** The failures that reading any document can have. */
export interface ReadingFailed {
  readonly type: "too_costly" | "broken";
}

const HEAP_MEGABYTES_MAX = 256;

/**
 * Reads a document in a thread that can be stopped, because hostile documents may take unlimited time and memory.
 * Rejects with the signal's reason if that aborts.
 */
export async function readInThread<Outcome>(
  { module, task, timeoutMs, isOutcome }: ReadJob<Outcome>,
  signal: AbortSignal,
): Promise<Outcome | ReadingFailed> {
  signal.throwIfAborted();
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
  // An exit without an outcome is a failure; after an outcome this call has no effect.
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
