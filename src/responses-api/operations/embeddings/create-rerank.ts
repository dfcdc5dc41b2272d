import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { RerankRequest, RerankResult } from "@antiphon/contracts/responses-api/types.ts";
import type { RanksRequest } from "@antiphon/domain/models/retrieval.ts";
import type { Caller } from "../../access/caller.ts";
import type { KeyAccounts } from "../../access/key-accounts.ts";
import { type RetrievalContext, RetrievalWork } from "./retrieval-work.ts";

/** `POST /v1/rerank`: documents in the order of their relevance to a question. */
export function createRerank(
  context: RetrievalContext,
  accounts: KeyAccounts,
): ResponsesApiHandlers<Caller>["createRerank"] {
  const work = new RetrievalWork(context, accounts);
  return async ({ body }, caller) => {
    const { model, query } = body;
    const documents = body.documents.map((document) => (typeof document === "string" ? document : document.text));
    const request: RanksRequest = { model, query, documents, payer: caller.principal.keyId, trace: caller.trace };
    const { answer, usage, headers } = await work.do(caller, {
      model,
      inputs: [query, ...documents],
      ask: (onAnsweredBy) => context.engine.rerank(request, caller.signal, onAnsweredBy),
    });
    const results = resultsOf(body, documents, answer.scores);
    return { status: 200, headers, body: { object: "list", model, results, usage } };
  };
}

/** Best first; documents of the same score stay in their order. */
function resultsOf(
  { top_n: resultsMax, return_documents: showsDocuments }: RerankRequest,
  documents: readonly string[],
  scores: readonly number[],
): RerankResult[] {
  const ranked = scores.map((relevance_score, index) => ({ index, relevance_score }));
  return ranked
    .toSorted((one, other) => other.relevance_score - one.relevance_score)
    .slice(0, resultsMax ?? ranked.length)
    .map((result) =>
      showsDocuments === true ? { ...result, document: { text: documents[result.index] ?? "" } } : result,
    );
}
