import { Worker } from "node:worker_threads";
import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { AudioError } from "./audio-error.ts";
import { type DecodeAnswer, isDecodeAnswer, type ThreadFormat } from "./decode-message.ts";
import type { Recording } from "./recording.ts";

const HEAP_MEGABYTES_MAX = 256;
/** Recordings that are decoded at the same time. Others wait until their caller aborts. */
const THREADS_MAX = 8;
/** Limit for one piece of about a second; a decoder that takes longer hangs. */
const PIECE_MS_MAX = 20_000;

const slots = new Semaphore(THREADS_MAX);

/**
 * Decodes FLAC, and Opus in WebM and Ogg, in a thread, which can be stopped if a hostile file makes the decoder hang.
 * Throws `AudioError`, or the signal's reason if the signal aborts.
 */
export async function* decodeInThread(
  format: ThreadFormat,
  recording: Recording,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  const giveBack = await slots.take(signal);
  try {
    yield* pieces(format, Buffer.concat(await Array.fromAsync(recording.read())), signal);
  } finally {
    giveBack();
  }
}

async function* pieces(format: ThreadFormat, bytes: Uint8Array, signal: AbortSignal): AsyncGenerator<Int16Array> {
  const worker = new Worker(new URL("./decode-worker.ts", import.meta.url), {
    workerData: { format, bytes },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
  });
  worker.on("error", () => {}); // The next `ask` reports that the thread ended.
  try {
    for (;;) {
      const answer = await ask(worker, signal);
      if (answer.type === "end") return;
      if (answer.type === "error") throw new AudioError(answer.reason, answer.message);
      if (answer.type === "fault") throw new AudioError("broken", "The recording cannot be decoded", answer.message);
      yield answer.samples;
    }
  } finally {
    await worker.terminate();
  }
}

async function ask(worker: Worker, signal: AbortSignal): Promise<DecodeAnswer> {
  signal.throwIfAborted();
  if (worker.threadId === -1) throw new AudioError("broken", "The recording cannot be decoded");
  const { promise, resolve, reject } = Promise.withResolvers<DecodeAnswer>();
  const stuck = (cause: unknown): void =>
    reject(new AudioError("broken", "The recording cannot be decoded: it takes too much time or memory", cause));
  const leave = (): void => reject(signal.reason);
  const receive = (answer: unknown): void => (isDecodeAnswer(answer) ? resolve(answer) : stuck(answer));
  const exit = (): void => stuck("the thread ended");
  const timer = setTimeout(() => stuck("timeout"), PIECE_MS_MAX);
  signal.addEventListener("abort", leave, { once: true });
  worker.on("message", receive).on("error", stuck).on("exit", exit);
  worker.postMessage("more");
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
    worker.off("message", receive).off("error", stuck).off("exit", exit);
  }
}
