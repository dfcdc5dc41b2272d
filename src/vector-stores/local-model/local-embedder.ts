import { Worker } from "node:worker_threads";
import type { Logger } from "@antiphon/base/logger.ts";
import { type EmbeddingPrefixes, prefixedModelName, splitModelName } from "../embeddings/prefixes.ts";
import { type Embedder, EmbeddingFailed, type EmbeddingPurpose } from "../ports/vectors.ts";
import type { EncodeAnswer, EncodeRequest, ModelThreadData } from "./model-messages.ts";

export interface LocalEmbedderOptions {
  readonly path: string;
  /** Tells what the vectors are compared with: another file has another name. */
  readonly model: string;
  readonly dimensions: number;
  readonly prefixes: EmbeddingPrefixes;
  /** How long a question waits before the search goes on without it, in milliseconds. */
  readonly questionMs: number;
  /** How long the thread and its memory are kept without work, in milliseconds. */
  readonly idleMs: number;
  readonly log: Logger;
  /** The module of the thread; left out for the usual one. */
  readonly threadUrl?: URL;
}

const THREAD_URL = new URL("./model-worker.ts", import.meta.url);

/** Texts that wait, of all callers. More are refused. */
const WAITING_MAX = 8192;
/** Longer texts are cut: the model reads about 500 words at once. */
const CHARACTERS_MAX = 64 * 1024;
/** A text at which the thread ended so often is given up. */
const CRASHES_MAX = 2;
/** The heap of the thread, in MiB. Weights lie outside of it; the module with them is limited to 512 MiB. */
const HEAP_MEGABYTES_MAX = 512;
/** The time limit of one text, loading included, in milliseconds. */
const ANSWER_MS = 60_000;

interface WaitingText {
  readonly text: string;
  readonly isAborted: () => boolean;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: unknown) => void;
  crashes: number;
}

/**
 * Computes vectors by a model file, in a thread: one text at a time, questions before passages. The thread starts with
 * the first text, ends when it has been idle, and is replaced if it fails.
 */
export class LocalEmbedder implements Embedder {
  readonly modelName: string;
  /** It has a line of its own, and a file should not wait for others. */
  readonly textsTogether = 1;
  readonly #options: LocalEmbedderOptions;
  readonly #waiting: Readonly<Record<EmbeddingPurpose, WaitingText[]>> = { question: [], passage: [] };
  #current: WaitingText | null = null;
  #worker: Worker | null = null;
  #idleTimer: NodeJS.Timeout | undefined;
  #answerTimer: NodeJS.Timeout | undefined;

  constructor(options: LocalEmbedderOptions) {
    this.modelName = prefixedModelName(options.model, options.prefixes);
    this.#options = options;
  }

  async embed(
    modelName: string,
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    signal.throwIfAborted();
    const { model, prefixes } = splitModelName(modelName);
    if (model !== this.#options.model) throw new EmbeddingFailed("The vectors are of another embedding model.");
    if (this.#waiting.question.length + this.#waiting.passage.length + texts.length > WAITING_MAX)
      throw new EmbeddingFailed("Too many texts wait for the embedding model.");
    const deadline = purpose === "question" ? AbortSignal.timeout(this.#options.questionMs) : null;
    const either = deadline === null ? signal : AbortSignal.any([signal, deadline]);
    try {
      return await this.#enqueue(
        texts.map((text) => prefixes[purpose] + text.slice(0, CHARACTERS_MAX)),
        purpose,
        either,
      );
    } catch (error) {
      signal.throwIfAborted();
      if (deadline?.aborted !== true) throw error;
      throw new EmbeddingFailed("The embedding model did not answer in time.", { cause: error });
    }
  }

  dimensionsOf(): Promise<number> {
    return Promise.resolve(this.#options.dimensions);
  }

  async #enqueue(
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const abortion = Promise.withResolvers<never>();
    const leave = (): void => abortion.reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    const vectors = texts.map((text) => {
      const { promise, resolve, reject } = Promise.withResolvers<Float32Array>();
      this.#waiting[purpose].push({ text, isAborted: () => signal.aborted, resolve, reject, crashes: 0 });
      return promise;
    });
    this.#sendNext();
    try {
      return await Promise.race([Promise.all(vectors), abortion.promise]);
    } finally {
      signal.removeEventListener("abort", leave);
      for (const vector of vectors) vector.catch(() => null);
    }
  }

  #sendNext(): void {
    if (this.#current !== null) return;
    const next = this.#takeNext();
    clearTimeout(this.#idleTimer);
    if (next === undefined) {
      this.#idleTimer = setTimeout(() => this.#endIdleThread(), this.#options.idleMs).unref();
      return;
    }
    this.#current = next;
    const request: EncodeRequest = { text: next.text };
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    worker.postMessage(request);
    this.#answerTimer = setTimeout(() => void worker.terminate(), ANSWER_MS);
  }

  /** Drops texts that nobody waits for any more. */
  #takeNext(): WaitingText | undefined {
    for (;;) {
      const next = this.#waiting.question.shift() ?? this.#waiting.passage.shift();
      if (next === undefined || !next.isAborted()) return next;
      next.reject(new EmbeddingFailed("The call was cancelled."));
    }
  }

  #start(): Worker {
    const workerData: ModelThreadData = { path: this.#options.path };
    const worker = new Worker(this.#options.threadUrl ?? THREAD_URL, {
      env: {},
      execArgv: [],
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
    });
    worker.on("message", (answer: EncodeAnswer) => this.#take(answer));
    worker.on("error", (error) => this.#options.log.warn({ err: error }, "embedding model's thread failed"));
    worker.once("exit", () => this.#noteExit(worker));
    return worker;
  }

  #take(answer: EncodeAnswer): void {
    this.#worker?.unref();
    const text = this.#endCurrent();
    if (answer.type === "vector") text?.resolve(answer.vector);
    else text?.reject(new EmbeddingFailed(`The file of the embedding model ${answer.message}.`));
    this.#sendNext();
  }

  /** Sends the text once more to a new thread, because the fault may be another's. */
  #noteExit(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const text = this.#endCurrent();
    if (text === null) return;
    text.crashes += 1;
    if (text.crashes < CRASHES_MAX) this.#waiting.question.unshift(text);
    else text.reject(new EmbeddingFailed("The embedding model failed.", { dependsOnTexts: true }));
    this.#sendNext();
  }

  #endCurrent(): WaitingText | null {
    clearTimeout(this.#answerTimer);
    const text = this.#current;
    this.#current = null;
    return text;
  }

  #endIdleThread(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }
}
