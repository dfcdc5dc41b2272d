import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { RunLedger } from "../../runs/ports/run-ledger.ts";
import type { Caller } from "../access/caller.ts";
import { changePause } from "../show/change-pause.ts";
import type { WatchContext } from "../show/watch-response.ts";

/** `POST /v1/responses/{response_id}/resume`: any process with a free place goes on with the run. */
export function resumeResponse(
  context: WatchContext,
  ledger: Pick<RunLedger, "requestResume">,
): ResponsesApiHandlers<Caller>["resumeResponse"] {
  return async ({ path: { response_id: id } }, caller) => {
    const body = await changePause(context, caller, id, () => ledger.requestResume(id));
    context.neighbours?.tellWork();
    return { status: 200, body };
  };
}
