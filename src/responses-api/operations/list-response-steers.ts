import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import { shownSteer } from "../show/shown-steer.ts";
import type { SteerContext } from "./steer-response.ts";

/** `GET /v1/responses/{response_id}/steer`: the inputs that were added to a response. */
export function listResponseSteers({
  watching,
  steers,
}: Pick<SteerContext, "watching" | "steers">): ResponsesApiHandlers<Caller>["listResponseSteers"] {
  return async ({ path: { response_id: responseId } }, { principal: { owner } }) => {
    const response = await watching.store.findResponse(owner, responseId);
    if (response === null) throw responseNotFound(responseId);
    const data = (await steers.list(owner, responseId)).map((steer) => shownSteer(steer, response));
    return { status: 200, body: { object: "list", data } };
  };
}
