import { type Kysely, sql } from "kysely";
import type { VectorModel } from "../../../vector-stores/ports/chunks.ts";
import type { ChunkFinder, ChunkQuestion, ChunksFound, SearchScope } from "../../../vector-stores/ports/search.ts";
import type { Database } from "../../database/schema.ts";
import type { ChunkSearch } from "../../search/chunk-search.ts";
import type { SearchPlaces } from "../../search/search-messages.ts";
import type { ThreadedSearch } from "../../search/threaded-search.ts";
import { secondsNow, touching } from "./store-statements.ts";

/** Finds chunks, and records the use of their stores. */
export class StoredChunkFinder implements ChunkFinder {
  readonly #db: Kysely<Database>;
  readonly #search: ThreadedSearch | ChunkSearch;

  constructor(db: Kysely<Database>, search: ThreadedSearch | ChunkSearch) {
    this.#db = db;
    this.#search = search;
  }

  modelsOf(scope: SearchPlaces): Promise<readonly VectorModel[]> {
    return this.#search.modelsOf(scope);
  }

  languagesOf(scope: SearchPlaces): Promise<readonly string[]> {
    return this.#search.languagesOf(scope);
  }

  async find(
    scope: SearchScope,
    questions: readonly ChunkQuestion[],
    perKindMax: number,
    signal: AbortSignal,
  ): Promise<ChunksFound> {
    signal.throwIfAborted();
    return await this.#search.find(scope, questions, perKindMax, signal);
  }

  async touch({ owner, storeIds }: SearchPlaces): Promise<void> {
    await sql`${touching(owner, storeIds)} and last_active_at < ${secondsNow()}`.execute(this.#db);
  }

  /** Waiting searches reject. */
  async close(): Promise<void> {
    await this.#search.close();
  }
}
