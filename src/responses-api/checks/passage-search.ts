import type { FileSearchToolInput, VectorStoreSearchRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { PassageSearch } from "@antiphon/domain/vector-stores.ts";
import { outOfBounds } from "../errors/parameter-errors.ts";
import { checkFilter } from "../vector-store-requests/check-filter.ts";

const RESULTS_DEFAULT = 10;

/** The search requested from one store. Throws an `ApiError`. */
export function searchOfRequest(storeId: string, request: VectorStoreSearchRequest): PassageSearch {
  const { filters, query, ranking_options: ranking } = request;
  if (filters != null) checkFilter(filters, "filters");
  return {
    storeIds: [storeId],
    queries: typeof query === "string" ? [query] : query,
    rewrites: request.rewrite_query ?? false,
    filter: filters ?? null,
    resultsMax: request.max_num_results ?? RESULTS_DEFAULT,
    scoreMin: ranking?.score_threshold ?? 0,
    weights: null,
    order: searchOrder(ranking?.ranker),
  };
}

function searchOrder(
  ranker: NonNullable<VectorStoreSearchRequest["ranking_options"]>["ranker"],
): PassageSearch["order"] {
  if (ranker === "none") return "score";
  return ranker === "default-2024-11-15" ? "ranks" : "best";
}

/** Checks rules that the schema cannot express. `param`: the path of the tool in the request. Throws an `ApiError`. */
export function checkFileSearch(tool: FileSearchToolInput, param: string): void {
  if (tool.filters != null) checkFilter(tool.filters, `${param}.filters`);
  const hybrid = tool.ranking_options?.hybrid_search;
  if (hybrid != null && hybrid.embedding_weight + hybrid.text_weight === 0)
    throw outOfBounds(
      "invalid_value",
      `${param}.ranking_options.hybrid_search`,
      "both weights are 0. Expected at least one weight above 0.",
    );
}
