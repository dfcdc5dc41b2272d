import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../context.ts";
import { notImplemented } from "../errors/server-errors.ts";
import { notReplayable, responseNotFound } from "../errors/state-errors.ts";
import { plainBody } from "../plain-body.ts";
import type { ResponseStore } from "../ports.ts";

/** `GET /v1/responses/{response_id}`: the latest stored snapshot. */
export function getResponse(
  store: Pick<ResponseStore, "findResponse">,
): ResponsesApiHandlers<ApiContext>["getResponse"] {
  return async ({ path, query }, { principal }) => {
    const response = await store.findResponse(principal.owner, path.response_id);
    if (response === null) throw responseNotFound(path.response_id);
    if (query.stream === true)
      throw response.background ? notImplemented("getResponse with stream=true") : notReplayable();
    return { status: 200, body: plainBody(response) };
  };
}
