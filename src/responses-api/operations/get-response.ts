import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { notMadeInBackground, notMadeWithStream, responseNotFound } from "../errors/state-errors.ts";
import { pausableBody } from "../show/plain-body.ts";
import { successorHeader } from "../show/reply-headers.ts";
import { storedEvents } from "../show/show-events.ts";
import { type WatchContext, watchResponse } from "../show/watch-response.ts";

/**
 * `GET /v1/responses/{response_id}`: the latest stored snapshot or, with `stream`, the events of a response that was
 * created with `background` and `stream`.
 */
export function getResponse(context: WatchContext): ResponsesApiHandlers<Caller>["getResponse"] {
  return async ({ path: { response_id: id }, query }, { principal: { owner }, signal }) => {
    const storedResponse = await context.store.findStored(owner, id);
    if (storedResponse === null) throw responseNotFound(id);
    if (query.stream !== true)
      return { status: 200, headers: successorHeader(storedResponse), body: pausableBody(storedResponse) };
    if (storedResponse.response.background !== true) throw notMadeInBackground();
    if (!storedResponse.isStreamed) throw notMadeWithStream();
    return {
      status: 200,
      events: storedEvents(watchResponse(context, { owner, responseId: id, signal }, query.starting_after ?? -1)),
    };
  };
}
