import { Worker } from "node:worker_threads";
import type { CountAnswer, CountRequest, CountStop } from "./count-message.ts";

/** A count has few long-lived objects, so the thread needs no more room for new ones. */
const YOUNG_MEGABYTES_MAX = 16;

interface WaitingCount {
  readonly resolve: (tokens: number) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Counts tokens in a thread, because creating a tokenizer blocks its thread for about a tenth of a second. The thread
 * starts with the first count and does not keep the process alive; if it ends, the next count starts another.
 */
export class CountThread {
  #worker: Worker | null = null;
  readonly #waiting = new Map<number, WaitingCount>();
  #lastId = 0;

  /** The tokens of the texts; the count so far if `signal` aborts. Rejects if the thread fails. */
  async count(texts: Omit<CountRequest, "id">, signal: AbortSignal): Promise<number> {
    this.#lastId += 1;
    const id = this.#lastId;
    const worker = this.#worker ?? this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const stop = (): void => worker.postMessage({ stop: id } satisfies CountStop);
    this.#waiting.set(id, { resolve, reject });
    worker.ref();
    worker.postMessage({ ...texts, id } satisfies CountRequest);
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#worker?.unref();
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL("./count-worker.ts", import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES_MAX },
    });
    worker.on("message", (answer: CountAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      if ("tokens" in answer) waiting?.resolve(answer.tokens);
      else waiting?.reject(new Error(`tokens cannot be counted: ${answer.fault}`));
    });
    let fault: unknown = null;
    worker.on("error", (error) => {
      fault = error;
    });
    worker.once("exit", () => {
      this.#worker = null;
      for (const { reject } of this.#waiting.values())
        reject(new Error("the thread that counts tokens has ended", { cause: fault }));
    });
    this.#worker = worker;
    return worker;
  }
}
