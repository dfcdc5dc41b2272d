import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { ResponseExchange } from "../../../../generated/responses-api/types.ts";
import type { Caller } from "../../access/caller.ts";
import { responseNotFound } from "../../errors/state-errors.ts";
import { EXCHANGES_MAX } from "../../exchanges/exchange-keeper.ts";
import type { ResponseServices } from "../../services.ts";

type Services = Pick<ResponseServices, "archive" | "exchanges" | "exchangeKeeper">;

/**
 * `GET /v1/responses/{response_id}/exchanges`: requests to other servers for a response, and the results of its tools.
 */
export function listResponseExchanges(services: Services): ResponsesApiHandlers<Caller>["listResponseExchanges"] {
  const { archive, exchanges, exchangeKeeper } = services;
  return async ({ path: { response_id: id } }, { principal: { owner } }) => {
    const record = await archive.findRecord(owner, id);
    if (record === null) throw responseNotFound(id);
    const [data, toolResults] = await Promise.all([exchanges.list(owner, id), archive.listToolResults(owner, id)]);
    return {
      status: 200,
      body: {
        object: "list",
        data: [...data],
        notes: [...record.notes],
        tool_results: [...toolResults],
        is_kept: exchangeKeeper !== null,
        is_complete: data.length < EXCHANGES_MAX && !data.some(isTruncated) && !lacksTurns(data),
      },
    };
  };
}

/** `DELETE /v1/responses/{response_id}/exchanges`: deletes them; the response stays. */
export function deleteResponseExchanges(services: Services): ResponsesApiHandlers<Caller>["deleteResponseExchanges"] {
  const { archive, exchanges } = services;
  return async ({ path: { response_id: id } }, { principal: { owner } }) => {
    if ((await archive.findRecord(owner, id)) === null) throw responseNotFound(id);
    await exchanges.remove(owner, id);
    return { status: 200, body: { id, object: "response.exchanges.deleted", deleted: true } };
  };
}

/** Whether turns of the model are missing: an owner's oldest exchanges are deleted first. */
function lacksTurns(exchanges: readonly ResponseExchange[]): boolean {
  const turns = new Set(exchanges.flatMap(({ turn }) => turn ?? []));
  return turns.size < Math.max(0, ...turns);
}

function isTruncated({ request, response }: ResponseExchange): boolean {
  return request.body.is_truncated || response?.body.is_truncated === true;
}
