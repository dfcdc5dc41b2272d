import { Worker } from "node:worker_threads";
import { IngestFailed } from "../ingest-failed.ts";
import type {
  ChunkAnswer,
  ChunkRequest,
  ChunkTask,
  ChunkThreadData,
  PreparedChunk,
  SentChunk,
} from "./chunk-messages.ts";

const HEAP_MEGABYTES_MAX = 1024;
/** The time limit of one reply, including reading a document. */
const ANSWER_MS = 300_000;

/**
 * Cuts files into chunks in a thread, one file at a time, so that neither long texts nor hostile documents block the
 * event loop. The thread starts with the first file and lasts until `close`; a failed thread is replaced.
 */
export class ChunkThread {
  readonly #data: ChunkThreadData;
  #worker: Worker | null = null;

  constructor(data: ChunkThreadData) {
    this.#data = data;
  }

  /**
   * The chunks of a file in batches; the thread waits in between. Takes ownership of the bytes. Throws `IngestFailed`,
   * or the signal's reason.
   */
  async *chunksOf(task: ChunkTask, signal: AbortSignal): AsyncGenerator<readonly PreparedChunk[]> {
    let answer = await this.#ask({ name: "begin", task: moveBuffers(task) }, signal);
    for (;;) {
      if (answer.name === "failed") throw new IngestFailed(answer.error);
      if (answer.chunks.length > 0) yield answer.chunks.map(receivedChunk);
      if (answer.isLast) return;
      answer = await this.#ask({ name: "next" }, signal);
    }
  }

  /** Ends the thread. It restarts when needed. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  async #ask(request: ChunkRequest, signal: AbortSignal): Promise<ChunkAnswer> {
    signal.throwIfAborted();
    const worker = (this.#worker ??= this.#start());
    const { promise, resolve, reject } = Promise.withResolvers<ChunkAnswer>();
    const leave = (): void => reject(signal.reason);
    const slow = setTimeout(() => reject(tooCostly(null)), ANSWER_MS);
    const fail = (error: unknown): void => reject(isOutOfMemory(error) ? tooCostly(error) : unread(error));
    const end = (): void => reject(unread(null)); // After an error, this call has no effect.
    signal.addEventListener("abort", leave, { once: true });
    worker.once("message", resolve).once("error", fail).once("exit", end);
    try {
      worker.postMessage(request, memoryOf(request));
      return await promise;
    } catch (error) {
      await this.close(); // Otherwise its reply would be taken as the reply to the next request.
      throw error;
    } finally {
      clearTimeout(slow);
      signal.removeEventListener("abort", leave);
      worker.off("message", resolve).off("error", fail).off("exit", end);
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL("./chunk-worker.ts", import.meta.url), {
      env: {},
      execArgv: [],
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
    });
    // Errors between two requests surface in the next one.
    worker.on("error", () => {});
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = null;
    });
    worker.unref();
    return worker;
  }
}

function receivedChunk(chunk: SentChunk): PreparedChunk {
  return { ...chunk, words: chunk.words === "" ? [] : chunk.words.split(" ") };
}

/** Copies bytes that share their memory with others, because they cannot be moved. */
function moveBuffers(task: ChunkTask): ChunkTask {
  const { bytes } = task.file;
  const isWhole = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
  return isWhole ? task : { ...task, file: { ...task.file, bytes: Uint8Array.from(bytes) } };
}

function memoryOf(request: ChunkRequest): readonly ArrayBuffer[] {
  const buffer = request.name === "begin" ? request.task.file.bytes.buffer : null;
  return buffer instanceof ArrayBuffer ? [buffer] : [];
}

function tooCostly(cause: unknown): IngestFailed {
  return new IngestFailed({ code: "invalid_file", message: "The file takes too much time or memory to read." }, cause);
}

function unread(cause: unknown): IngestFailed {
  return new IngestFailed({ code: "server_error", message: "The server failed while it read the file." }, cause);
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
