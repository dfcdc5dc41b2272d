import { Worker } from "node:worker_threads";
import { assert } from "@antiphon/base/assert.ts";
import { StoreBusy } from "../../runs/ports/store-faults.ts";
import type { VectorModel } from "../../vector-stores/ports/chunks.ts";
import type { ChunkQuestion, ChunksFound, SearchScope } from "../../vector-stores/ports/search.ts";
import { errorOf } from "../owner/thread/messages.ts";
import type { SearchAnswer, SearchPlaces, SearchRequest, SearchThreadData } from "./search-messages.ts";

/** Searches run one after the other. Beyond this many, a search is refused. */
const WAITING_MAX = 256;

type Request = SearchRequest extends infer Each ? (Each extends unknown ? Omit<Each, "id"> : never) : never;

interface WaitingSearch {
  readonly resolve: (answer: SearchAnswer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Searches in a thread with its own connection, so that neither the event loop nor other writes wait for a search. The
 * thread starts with the first search. If it crashes, its searches reject and the next search restarts it.
 */
export class ThreadedSearch {
  readonly #module: URL;
  readonly #data: SearchThreadData<unknown>;
  #thread: Worker | null = null;
  #lastId = 0;
  readonly #waiting = new Map<number, WaitingSearch>();

  /** The thread starts with this module and this data. */
  constructor(module: URL, data: SearchThreadData<unknown>) {
    this.#module = module;
    this.#data = data;
  }

  /** See `ChunkFinder.modelsOf`. */
  async modelsOf(scope: SearchPlaces): Promise<readonly VectorModel[]> {
    const answer = await this.#ask({ name: "models", scope }, null);
    assert(answer.name === "models", "a question for models is answered with them");
    return answer.models;
  }

  /** See `ChunkFinder.languagesOf`. */
  async languagesOf(scope: SearchPlaces): Promise<readonly string[]> {
    const answer = await this.#ask({ name: "languages", scope }, null);
    assert(answer.name === "languages", "a question for languages is answered with them");
    return answer.languages;
  }

  /** See `ChunkFinder.find`. */
  async find(
    scope: SearchScope,
    questions: readonly ChunkQuestion[],
    perKindMax: number,
    signal: AbortSignal,
  ): Promise<ChunksFound> {
    const answer = await this.#ask({ name: "find", scope, questions, perKindMax }, signal);
    assert(answer.name === "find", "a search is answered with what it found");
    return answer.found;
  }

  /** Ends the thread. Waiting searches reject. */
  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  async #ask(request: Request, signal: AbortSignal | null): Promise<SearchAnswer> {
    if (this.#waiting.size >= WAITING_MAX) throw new StoreBusy("too many searches wait for their turn");
    const thread = (this.#thread ??= this.#start());
    const id = (this.#lastId += 1);
    const { promise, resolve, reject } = Promise.withResolvers<SearchAnswer>();
    const leave = (): void => reject(signal?.reason);
    this.#waiting.set(id, { resolve, reject });
    signal?.addEventListener("abort", leave, { once: true });
    thread.postMessage({ ...request, id });
    try {
      const answer = await promise;
      if (answer.name === "failed") throw errorOf(answer.error);
      return answer;
    } finally {
      this.#waiting.delete(id);
      signal?.removeEventListener("abort", leave);
    }
  }

  #start(): Worker {
    const thread = new Worker(this.#module, {
      env: {},
      execArgv: [],
      workerData: this.#data,
    });
    let fault: unknown = null;
    thread.on("message", (answer: SearchAnswer) => this.#waiting.get(answer.id)?.resolve(answer));
    thread.on("error", (error) => {
      fault = error;
    });
    thread.once("exit", () => {
      if (this.#thread === thread) this.#thread = null;
      const threadError = new Error("the search thread ended", { cause: fault });
      for (const { reject } of this.#waiting.values()) reject(threadError);
    });
    thread.unref();
    return thread;
  }
}
