import { Worker } from "node:worker_threads";

/**
 * A document to read and the module that reads it in a thread. The module gets `task` as worker data and posts one
 * outcome.
 */
export interface ReadJob<Outcome> {
  readonly module: URL;
  readonly task: unknown;
  readonly timeoutMs: number;
  /** The CPU time limit of the thread, in milliseconds; none if absent. */
  readonly cpuMs?: number | undefined;
  readonly isOutcome: (value: unknown) => value is Outcome;
}

/** The CPU time limit of a document, by its size, in milliseconds. */
export interface CpuLimit {
  readonly baseMs: number;
  readonly msPerMebibyte: number;
}

export function cpuMsFor({ baseMs, msPerMebibyte }: CpuLimit, bytes: number): number {
  return baseMs + (bytes / MEBIBYTE) * msPerMebibyte;
}

/** The failures that reading any document can have. */
export interface ReadingFailed {
  readonly type: "too_costly" | "broken";
}

const HEAP_MEGABYTES_MAX = 256;
const MEBIBYTE = 1024 * 1024;
/** The longest time between two checks of the CPU time. */
const LOOK_MS_MAX = 500;

/**
 * Reads a document in a thread that can be stopped, because hostile documents may take unlimited time and memory.
 * Rejects with the signal's reason if the signal aborts.
 */
export async function readInThread<Outcome>(
  { module, task, timeoutMs, cpuMs, isOutcome }: ReadJob<Outcome>,
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
  const stopLooking = cpuMs === undefined ? () => {} : limitCpu(worker, cpuMs, () => resolve({ type: "too_costly" }));
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
    stopLooking();
    signal.removeEventListener("abort", leave);
    await worker.terminate();
  }
}

/** Calls back when the thread exceeds this CPU time. Returns a function that stops watching. */
function limitCpu(worker: Worker, cpuMs: number, onExceeded: () => void): () => void {
  const look = async (): Promise<void> => {
    const { user, system } = await worker.cpuUsage(); // In microseconds.
    if ((user + system) / 1000 > cpuMs) onExceeded();
  };
  // A thread that has ended has no usage, and its outcome is known.
  const timer = setInterval(() => void look().catch(() => {}), Math.min(cpuMs, LOOK_MS_MAX));
  return () => clearInterval(timer);
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
