import { Worker } from "node:worker_threads";
import { type Kysely, sql } from "kysely";
import { assert } from "../../../base/assert.ts";
import { StoreBusy } from "../../../responses-api/ports.ts";
import type {
  ChunkFinder,
  ChunkQuestion,
  ChunksFound,
  SearchScope,
  VectorModel,
} from "../../../vector-stores/ports.ts";
import type { Database } from "../../database/schema.ts";
import { errorOf } from "../../thread/messages.ts";
import { secondsNow, touching } from "../store-statements.ts";
import { ChunkSearch } from "./chunk-search.ts";
import type { SearchAnswer, SearchRequest, SearchThreadData } from "./search-messages.ts";
import { SqliteChunkIndex } from "./sqlite-chunk-index.ts";
import { VectorCache } from "./vector-scores.ts";

/** Searches are answered one after the other. Beyond this many, a search is refused. */
const WAITING_MAX = 256;

type Places = Pick<SearchScope, "owner" | "storeIds">;
type Request = SearchRequest extends infer Each ? (Each extends unknown ? Omit<Each, "id"> : never) : never;

interface WaitingSearch {
  readonly resolve: (answer: SearchAnswer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Finds chunks in a thread with a connection of its own, so that neither the event loop nor the writes of others wait
 * for a search. The thread starts with the first search. If it ends by itself, its searches reject and the next search
 * starts it again.
 */
export class StoredChunkFinder implements ChunkFinder {
  readonly #db: Kysely<Database>;
  readonly #options: SearchThreadData;
  /** For a database in memory, which only its own thread can read. */
  readonly #inMemory: ChunkSearch | null;
  #thread: Worker | null = null;
  #lastId = 0;
  readonly #waiting = new Map<number, WaitingSearch>();

  constructor(db: Kysely<Database>, options: SearchThreadData) {
    this.#db = db;
    this.#options = options;
    this.#inMemory =
      options.file === ":memory:"
        ? new ChunkSearch(db, new SqliteChunkIndex(db), new VectorCache(options.vectorBytesMax))
        : null;
  }

  async modelsOf(scope: Places): Promise<readonly VectorModel[]> {
    if (this.#inMemory !== null) return await this.#inMemory.modelsOf(scope);
    const answer = await this.#ask({ name: "models", scope }, null);
    assert(answer.name === "models", "a question for models is answered with them");
    return answer.models;
  }

  async find(
    scope: SearchScope,
    questions: readonly ChunkQuestion[],
    perKindMax: number,
    signal: AbortSignal,
  ): Promise<ChunksFound> {
    signal.throwIfAborted();
    if (this.#inMemory !== null) return await this.#inMemory.find(scope, questions, perKindMax);
    const answer = await this.#ask({ name: "find", scope, questions, perKindMax }, signal);
    assert(answer.name === "find", "a search is answered with what it found");
    return answer.found;
  }

  async touch({ owner, storeIds }: Places): Promise<void> {
    await sql`${touching(owner, storeIds)} and last_active_at < ${secondsNow()}`.execute(this.#db);
  }

  /** Ends the thread. Searches that wait reject. */
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
    const thread = new Worker(new URL("./search-thread.ts", import.meta.url), {
      env: {},
      execArgv: [],
      workerData: this.#options,
    });
    let fault: unknown = null;
    thread.on("message", (answer: SearchAnswer) => this.#waiting.get(answer.id)?.resolve(answer));
    thread.on("error", (error) => {
      fault = error;
    });
    thread.once("exit", () => {
      if (this.#thread === thread) this.#thread = null;
      const ended = new Error("the search thread ended", { cause: fault });
      for (const { reject } of this.#waiting.values()) reject(ended);
    });
    thread.unref();
    return thread;
  }
}
