import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import type { ResponseServices } from "../services.ts";

/** `DELETE /v1/responses/{response_id}`: stops the response if it is in progress, then deletes it. */
export function deleteResponse(
  services: Pick<ResponseServices, "store" | "runs" | "neighbours">,
): ResponsesApiHandlers<Caller>["deleteResponse"] {
  const { store, runs, neighbours } = services;
  return async ({ path: { response_id: id } }, { principal: { owner } }) => {
    if ((await store.findResponse(owner, id)) === null) throw responseNotFound(id);
    await runs.stop(id);
    await runs.storeContinuing(id);
    if (!(await store.deleteResponse(owner, id))) throw responseNotFound(id);
    neighbours?.tellStop(id);
    return { status: 200, body: { id, object: "response.deleted", deleted: true } };
  };
}
