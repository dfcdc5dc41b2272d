import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ResponseExchange } from "@antiphon/contracts/responses-api/types.ts";
import type { ExchangeStore, ResponseArchive } from "@antiphon/domain/inspection.ts";
import type { Caller } from "../../access/caller.ts";
import { responseNotFound } from "../../errors/state-errors.ts";
import { EXCHANGES_MAX } from "../../exchanges/exchange-log.ts";

export interface ExchangesContext {
  readonly archive: ResponseArchive;
  /** What other servers were asked for stored responses. */
  readonly exchanges: ExchangeStore;
  /** Whether the settings keep those. */
  readonly keepsExchanges: boolean;
}

/** `GET /v1/responses/{response_id}/exchanges`: what others were asked for a response, and what its tools gave. */
export function listResponseExchanges({
  archive,
  exchanges,
  keepsExchanges,
}: ExchangesContext): ResponsesApiHandlers<Caller>["listResponseExchanges"] {
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
        is_kept: keepsExchanges,
        is_complete: data.length < EXCHANGES_MAX && !data.some(isTruncated) && !lacksTurns(data),
      },
    };
  };
}

/** `DELETE /v1/responses/{response_id}/exchanges`: removes them; the response stays. */
export function deleteResponseExchanges({
  archive,
  exchanges,
}: ExchangesContext): ResponsesApiHandlers<Caller>["deleteResponseExchanges"] {
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
