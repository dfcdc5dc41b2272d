import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import type { WatchContext } from "../show/watch-response.ts";

/** `DELETE /v1/responses/{response_id}`: stops the response if it is still running, then deletes it. */
export function deleteResponse({
  store,
  runs,
  neighbours,
}: WatchContext): ResponsesApiHandlers<Caller>["deleteResponse"] {
  return async ({ path: { response_id: id } }, { principal: { owner } }) => {
    if ((await store.findResponse(owner, id)) === null) throw responseNotFound(id);
    await runs.stop(id);
    await runs.storeContinuing(id);
    if (!(await store.deleteResponse(owner, id))) throw responseNotFound(id);
    neighbours?.tellStop(id);
    return { status: 200, body: { id, object: "response.deleted", deleted: true } };
  };
}
