import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { invalidLastEventId } from "../errors/parameter-errors.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import { shownEvents } from "../show/show-events.ts";
import { isOver, type WatchContext, watchResponse } from "../show/watch-response.ts";

/**
 * `GET /v1/responses/{response_id}/events`: the past and future events of any stored response, in the extension dialect
 * by default.
 */
export function streamResponseEvents(context: WatchContext): ResponsesApiHandlers<Caller>["streamResponseEvents"] {
  return async ({ path: { response_id: id }, query, headers }, { principal: { owner }, signal }) => {
    const lastId = lastEventId(headers["last-event-id"]);
    const response = await context.store.findResponse(owner, id);
    if (response === null) throw responseNotFound(id);
    const after = Math.max(lastId ?? -1, query.starting_after ?? -1);
    if (lastId !== null && isOver(response) && (await isRead(context, id, after))) return { status: 204 };
    const events = watchResponse(context, { owner, responseId: id, signal }, after);
    const channels = query.channels == null ? null : new Set(query.channels);
    return {
      status: 200,
      events: shownEvents(events, { padded: false, channels, dialect: query.dialect !== "reference", withIds: true }),
    };
  };
}

/** The number in the header; null without one. Browsers send an empty header if the last event had no id. */
function lastEventId(header: string | undefined): number | null {
  if (header === undefined || header === "") return null;
  if (!/^\d{1,15}$/.test(header)) throw invalidLastEventId();
  return Number(header);
}

/** Whether a response that has ended has no event above `after`. */
async function isRead({ eventLog }: WatchContext, id: string, after: number): Promise<boolean> {
  for await (const batch of eventLog.read(id, after)) if (batch.length > 0) return false;
  return true;
}
