import { isRecord } from "@antiphon/base/json/records.ts";
import { notOffered, type Ranks, type RanksRequest } from "@antiphon/domain/models/retrieval.ts";
import type { ServerAddress } from "../model-server/ask-server.ts";
import type { ServerTimeouts } from "../model-server/engine-options.ts";
import { brokenAnswer } from "../model-server/errors/model-errors.ts";
import { isList } from "../model-server/json-values.ts";
import { tokensIn } from "./answer-tokens.ts";
import { askRetrieval, type RetrievalReply } from "./retrieval-call.ts";

/**
 * `documents`: below the path of the API, as Jina, Cohere, vLLM, llama.cpp and LocalAI take it. `texts`: below the
 * server's root, as Hugging Face's Text Embeddings Inference takes it.
 */
type RankForm = "documents" | "texts";

/** Asks a server for the ranks of documents, by `/rerank`. */
export class RanksAsker {
  readonly #server: ServerAddress;
  readonly #timeouts: ServerTimeouts;
  /** The form that worked last. */
  #form: RankForm = "documents";

  constructor(server: ServerAddress, timeouts: ServerTimeouts) {
    this.#server = server;
    this.#timeouts = timeouts;
  }

  async ask(request: RanksRequest, batches: readonly (readonly string[])[], signal: AbortSignal): Promise<Ranks> {
    const scores: number[] = [];
    let tokens: number | null = 0;
    for (const batch of batches) {
      const answer = await this.#askBatch(request, batch, signal);
      request.onFirst?.();
      scores.push(...readScores(answer, batch.length));
      const counted: number | null = tokensIn(answer);
      tokens = tokens === null || counted === null ? null : tokens + counted;
    }
    return { scores, tokens };
  }

  async #askBatch(request: RanksRequest, batch: readonly string[], signal: AbortSignal): Promise<unknown> {
    const form = this.#form;
    const other = form === "documents" ? "texts" : "documents";
    const reply = await this.#send(request, batch, form, signal);
    if (reply.type === "answer") return reply.answer;
    if (!reply.isMissing) throw reply.error;
    const second = await this.#send(request, batch, other, signal);
    if (second.type === "answer") {
      this.#form = other;
      return second.answer;
    }
    throw second.isMissing ? notOffered(request.model, "ranks") : second.error;
  }

  async #send(
    { model, query, trace }: RanksRequest,
    documents: readonly string[],
    form: RankForm,
    signal: AbortSignal,
  ): Promise<RetrievalReply> {
    const { apiPath, rootPath } = this.#server;
    const [path, body] =
      form === "documents"
        ? [`${apiPath}/rerank`, { model, query, documents, top_n: documents.length, return_documents: false }]
        : [`${rootPath}/rerank`, { query, texts: documents, raw_scores: false, truncate: true }];
    return await askRetrieval(this.#server, { path, body, model, api: "ranks", trace }, this.#timeouts, signal);
  }
}

/** The scores of an answer in the order of the documents. The results are in `results`, in `data`, or bare. */
function readScores(answer: unknown, count: number): readonly number[] {
  const list = isRecord(answer) ? (answer["results"] ?? answer["data"]) : answer;
  const scores = new Map<number, number>();
  for (const result of isList(list) ? list : []) {
    const { index, relevance_score, score = relevance_score } = isRecord(result) ? result : {};
    if (typeof index === "number" && typeof score === "number" && Number.isFinite(score)) scores.set(index, score);
  }
  return Array.from({ length: count }, (_, index) => {
    const score = scores.get(index);
    if (score === undefined) throw brokenAnswer("did not send one rank for each document");
    return score;
  });
}
