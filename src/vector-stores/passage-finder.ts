import type { Logger } from "@antiphon/base/logger.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Passage, PassageFinder, PassageSearch, PassagesFound } from "@antiphon/domain/vector-stores.ts";
import { commonShareOf } from "./embeddings/cosine-scales.ts";
import { favourRows } from "./favour-rows.ts";
import { fuse } from "./fuse.ts";
import type { ChunkFinder, SearchScope } from "./ports/search.ts";
import { type Embedder, EmbeddingFailed } from "./ports/vectors.ts";
import type { QueryRewriter } from "./query-rewriter.ts";
import { PASSAGES_RANKED_MAX, type Reranker } from "./reranker.ts";
import { questionWords } from "./words/question-words.ts";

/** The number of chunks from each kind of search, for each form of a question. */
const CHUNKS_PER_KIND = 50;

/** The models that a search asks; null for those that the server lacks. */
export interface SearchModels {
  readonly embedder: Pick<Embedder, "embed"> | null;
  readonly reranker: Reranker | null;
  readonly rewriter: QueryRewriter | null;
}

/** Searches by words, and by meaning if the stores have vectors and their model is available. */
export class StoredPassages implements PassageFinder {
  readonly comparesMeaning: boolean;
  readonly #chunks: ChunkFinder;
  readonly #embedder: Pick<Embedder, "embed"> | null;
  readonly #reranker: Reranker | null;
  readonly #rewriter: QueryRewriter | null;
  readonly #log: Logger;

  constructor(chunks: ChunkFinder, { embedder, reranker, rewriter }: SearchModels, log: Logger) {
    this.comparesMeaning = embedder !== null;
    this.#chunks = chunks;
    this.#embedder = embedder;
    this.#reranker = reranker;
    this.#rewriter = rewriter;
    this.#log = log;
  }

  async search(owner: Owner, search: PassageSearch, signal: AbortSignal): Promise<PassagesFound> {
    const scope = { owner, storeIds: search.storeIds, filter: search.filter };
    if (!search.rewrites || this.#rewriter === null) return await this.#searchAsGiven(scope, search, signal);
    const stores = await this.#chunks.find(scope, [], 0, signal);
    if (stores.type !== "found") return stores;
    const queries = await this.#rewriter.rewrite(search.queries, signal);
    return await this.#searchAsGiven(scope, { ...search, queries }, signal);
  }

  async #searchAsGiven(scope: SearchScope, search: PassageSearch, signal: AbortSignal): Promise<PassagesFound> {
    const { queries, resultsMax } = search;
    const vectors = await this.#embed(scope, queries, signal);
    const languages = await this.#chunks.languagesOf(scope);
    const words = await Promise.all(queries.map((query) => questionWords(query, languages)));
    const questions = queries.map((_, index) => ({
      words: words[index]?.words ?? [],
      stopWords: words[index]?.stopWords ?? [],
      vectors: vectors.map(({ model, ofQueries }) => ({
        model,
        vector: ofQueries[index] ?? new Float32Array(0),
        commonShare: commonShareOf(model.name),
      })),
    }));
    const perKindMax = Math.max(CHUNKS_PER_KIND, resultsMax);
    const result = await this.#chunks.find(scope, questions, perKindMax, signal);
    if (result.type !== "found") return result;
    await this.#chunks.touch(scope);
    const hits = result.hits.map((ofForm, index) => favourRows(ofForm, result.chunks, words[index]?.words ?? []));
    const fuseFor = (wanted: Pick<PassageSearch, "resultsMax" | "scoreMin">): readonly Passage[] =>
      fuse(hits, result.chunks, { ...search, ...wanted });
    const reranker = search.order === "best" ? this.#reranker : null;
    const candidates = reranker === null ? [] : fuseFor({ resultsMax: PASSAGES_RANKED_MAX, scoreMin: 0 });
    const ranked = reranker === null ? null : await reranker.order(search, candidates, signal);
    return { type: "found", passages: ranked ?? fuseFor(search), queries };
  }

  /** The vectors of all queries by each model of the stores. Unavailable models are left out. */
  async #embed(scope: SearchScope, queries: readonly string[], signal: AbortSignal) {
    const embedder = this.#embedder;
    if (embedder === null) return [];
    const models = await this.#chunks.modelsOf(scope);
    const embeddings = models.map(async (model) => {
      try {
        const ofQueries = await embedder.embed(model.name, queries, "question", signal);
        const fits = ofQueries.every((vector) => vector.length === model.dimensions);
        return fits ? [{ model, ofQueries }] : [];
      } catch (error) {
        if (!(error instanceof EmbeddingFailed)) throw error;
        this.#log.warn({ err: error }, "embedding server failed; searching by words only");
        return [];
      }
    });
    return (await Promise.all(embeddings)).flat();
  }
}
