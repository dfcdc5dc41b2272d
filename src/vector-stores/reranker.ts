import type { Logger } from "@antiphon/base/logger.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { Passage, PassageSearch } from "@antiphon/domain/vector-stores.ts";
import { embeddedText } from "./ingest/ingest-file.ts";

/** The most passages of one search that a model ranks. */
export const PASSAGES_RANKED_MAX = 50;
/** A longer passage is ranked by its beginning. Most rerankers read 512 tokens, some 8,192. */
const PASSAGE_CHARACTERS_MAX = 8_000;
const QUERY_CHARACTERS_MAX = 4_000;

export interface RerankerOptions {
  readonly engine: Pick<ModelEngine, "rerank">;
  readonly model: string;
  /** The time limit of one search, in milliseconds. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** Orders the passages of a search by a model. */
export class Reranker {
  readonly #options: RerankerOptions;

  constructor(options: RerankerOptions) {
    this.#options = options;
  }

  /**
   * The passages that the search wants, best first, with the model's scores. Null if the model failed, which is logged.
   * Rejects with the signal's reason if the signal aborts.
   */
  async order(
    { queries, resultsMax, scoreMin }: PassageSearch,
    passages: readonly Passage[],
    signal: AbortSignal,
  ): Promise<readonly Passage[] | null> {
    if (passages.length === 0) return [];
    const documents = passages.map((passage) =>
      embeddedText({ ...passage, columns: null }).slice(0, PASSAGE_CHARACTERS_MAX),
    );
    const query = queries.join("\n").slice(0, QUERY_CHARACTERS_MAX);
    const scores = await this.#ask(query, documents, signal);
    if (scores === null) return null;
    return passages
      .map((passage, index) => ({ ...passage, score: scores[index] ?? 0 }))
      .filter(({ score }) => score >= scoreMin)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, resultsMax);
  }

  async #ask(query: string, documents: readonly string[], signal: AbortSignal): Promise<readonly number[] | null> {
    const { engine, model, timeoutMs, log } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs);
    const request = { model, query, documents, payer: "", trace: null };
    try {
      const { scores } = await engine.rerank(request, AbortSignal.any([signal, deadline]));
      return asRelevances(scores);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelError) && !deadline.aborted) throw error;
      log.warn({ model, err: error }, "the reranker failed; results keep the order of both searches");
      return null;
    }
  }
}

/** Scores from 0 to 1. Models with another scale give logits, whose logistic function is the relevance. */
function asRelevances(scores: readonly number[]): readonly number[] {
  return scores.every((score) => score >= 0 && score <= 1) ? scores : scores.map((score) => 1 / (1 + Math.exp(-score)));
}
