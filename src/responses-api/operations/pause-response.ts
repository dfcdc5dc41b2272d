import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { RunLedger } from "../../runs/ports/run-ledger.ts";
import type { Caller } from "../access/caller.ts";
import { changePause } from "../show/change-pause.ts";
import type { WatchContext } from "../show/watch-response.ts";

/** `POST /v1/responses/{response_id}/pause`: the run stops before the next turn of its model. */
export function pauseResponse(
  context: WatchContext,
  ledger: Pick<RunLedger, "requestPause">,
): ResponsesApiHandlers<Caller>["pauseResponse"] {
  return async ({ path: { response_id: id } }, caller) => ({
    status: 200,
    body: await changePause(context, caller, id, () => ledger.requestPause(id)),
  });
}
