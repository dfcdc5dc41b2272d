import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { PassageFinder } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { searchOfRequest } from "../../checks/passage-search.ts";
import { vectorStoreExpired, vectorStoreNotFound } from "../../errors/vector-store-errors.ts";

/** `POST /v1/vector_stores/{vector_store_id}/search`. A model rewords the questions if the request says so. */
export function searchVectorStore(passages: PassageFinder): ResponsesApiHandlers<Caller>["searchVectorStore"] {
  return async ({ path: { vector_store_id: id }, body }, { principal: { owner }, signal }) => {
    const search = searchOfRequest(id, body);
    const outcome = await passages.search(owner, search, signal);
    if (outcome.type === "unknown_store") throw vectorStoreNotFound(id);
    if (outcome.type === "expired_store") throw vectorStoreExpired(id);
    const data = outcome.passages.map(({ fileId, filename, score, attributes, text }) => ({
      file_id: fileId,
      filename,
      score,
      attributes: attributes ?? {},
      content: [{ type: "text" as const, text }],
    }));
    const object = "vector_store.search_results.page";
    return {
      status: 200,
      body: { object, search_query: [...outcome.queries], data, has_more: false, next_page: null },
    };
  };
}
