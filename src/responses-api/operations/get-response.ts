import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../access/context.ts";
import { notMadeInBackground, notMadeWithStream, responseNotFound } from "../errors/state-errors.ts";
import type { ResponseStore } from "../ports.ts";
import { plainBody } from "../show/plain-body.ts";
import { storedEvents } from "../show/show-events.ts";
import { type WatchParts, watchResponse } from "../show/watch-response.ts";

export interface GetResponseParts extends WatchParts {
  readonly store: Pick<ResponseStore, "findResponse" | "findStored">;
}

/**
 * `GET /v1/responses/{response_id}`: the latest stored snapshot or, with `stream`, the events of a response made with
 * `background` and `stream`.
 */
export function getResponse(parts: GetResponseParts): ResponsesApiHandlers<ApiContext>["getResponse"] {
  return async ({ path: { response_id: id }, query }, { principal: { owner }, signal }) => {
    const stored = await parts.store.findStored(owner, id);
    if (stored === null) throw responseNotFound(id);
    if (query.stream !== true) return { status: 200, body: plainBody(stored.response) };
    if (stored.response.background !== true) throw notMadeInBackground();
    if (!stored.streamed) throw notMadeWithStream();
    return {
      status: 200,
      events: storedEvents(watchResponse(parts, { owner, responseId: id, signal }, query.starting_after ?? -1)),
    };
  };
}
