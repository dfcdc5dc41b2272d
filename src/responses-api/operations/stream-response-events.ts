import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import { shownEvents } from "../show/show-events.ts";
import { type WatchServices, watchResponse } from "../show/watch-response.ts";

/**
 * `GET /v1/responses/{response_id}/events`: the past and future events of any stored response, in the extension dialect
 * by default.
 */
export function streamResponseEvents(services: WatchServices): ResponsesApiHandlers<Caller>["streamResponseEvents"] {
  return async ({ path: { response_id: id }, query }, { principal: { owner }, signal }) => {
    if ((await services.store.findResponse(owner, id)) === null) throw responseNotFound(id);
    const events = watchResponse(services, { owner, responseId: id, signal }, query.starting_after ?? -1);
    const channels = query.channels == null ? null : new Set(query.channels);
    return {
      status: 200,
      events: shownEvents(events, { padded: false, channels, dialect: query.dialect !== "reference" }),
    };
  };
}
