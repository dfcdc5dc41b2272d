import type { ListResponsesCall, ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ResponseSummary } from "@antiphon/contracts/responses-api/types.ts";
import type { ListedResponse, PriceTable, ResponseArchive, ResponseFilter } from "@antiphon/domain/inspection.ts";
import type { Caller } from "../../access/caller.ts";
import { cursorNotFound } from "../../errors/state-errors.ts";

const PAGE_RESPONSES_DEFAULT = 20;

/** `GET /v1/responses`: the owner's stored responses, newest first by default. */
export function listResponses(
  archive: ResponseArchive,
  prices: PriceTable,
): ResponsesApiHandlers<Caller>["listResponses"] {
  return async ({ query }, { principal: { owner } }) => {
    const { limit = PAGE_RESPONSES_DEFAULT, order = "desc", after = null } = query;
    const page = await archive.list(owner, { filter: filterOf(query), limit, order, after });
    if (page === null) throw cursorNotFound(after ?? "");
    return {
      status: 200,
      body: {
        object: "list",
        data: page.responses.map((item) => ({ ...item, price: priceOf(item, prices) })),
        first_id: page.responses[0]?.id ?? null,
        has_more: page.hasMore,
        last_id: page.lastId,
      },
    };
  };
}

function priceOf({ model, usage }: ListedResponse, prices: PriceTable): ResponseSummary["price"] {
  if (usage === null) return null;
  const { input_tokens: inputTokens, output_tokens: outputTokens, input_tokens_details: details } = usage;
  return prices.priceOf(model, { inputTokens, outputTokens, cachedTokens: details.cached_tokens });
}

/** The filter of a query. */
export function filterOf(query: Omit<ListResponsesCall["query"], "limit" | "order" | "after">): ResponseFilter {
  return {
    statuses: query.status ?? null,
    model: query.model ?? null,
    kind: query.kind ?? null,
    isBackground: query.background ?? null,
    createdAfter: query.created_after ?? null,
    createdBefore: query.created_before ?? null,
    metadata: query.metadata ?? {},
    keyId: query.key ?? null,
    conversationId: query.conversation ?? null,
    previousId: query.previous_response_id ?? null,
    askedForBy: null,
    words: (query.query ?? "").split(/\s+/).filter((word) => word !== ""),
  };
}
