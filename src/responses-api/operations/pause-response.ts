import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { RunLedger } from "../../runs/ports/run-ledger.ts";
import type { Caller } from "../access/caller.ts";
import { pauseNotSupported, responseNotActive, responseNotFound } from "../errors/state-errors.ts";
import { pausableBody } from "../show/plain-body.ts";
import { isOver, type WatchContext } from "../show/watch-response.ts";

type Request = Pick<RunLedger, "requestPause" | "requestResume">;

/** `POST /v1/responses/{response_id}/pause`: the run stops before the next turn of its model. */
export function pauseResponse(context: WatchContext, ledger: Request): ResponsesApiHandlers<Caller>["pauseResponse"] {
  return async ({ path: { response_id: id } }, caller) => ({
    status: 200,
    body: await changePause(context, caller, id, () => ledger.requestPause(id)),
  });
}

/** `POST /v1/responses/{response_id}/resume`: any process with a free place goes on with the run. */
export function resumeResponse(context: WatchContext, ledger: Request): ResponsesApiHandlers<Caller>["resumeResponse"] {
  return async ({ path: { response_id: id } }, caller) => {
    const body = await changePause(context, caller, id, () => ledger.requestResume(id));
    context.neighbours?.tellWork();
    return { status: 200, body };
  };
}

/** `change` resolves to false if the run cannot be paused, or has ended. */
async function changePause(
  { store, runs, neighbours }: WatchContext,
  { principal: { owner } }: Pick<Caller, "principal">,
  id: string,
  change: () => Promise<boolean>,
): Promise<Response> {
  const before = await store.findStored(owner, id);
  if (before === null) throw responseNotFound(id);
  if (before.response.background !== true) throw pauseNotSupported();
  if (isOver(before.response) || !(await change())) throw responseNotActive(id);
  await runs.tellRequest(id);
  neighbours?.tellStop(id); // Its worker also looks by itself, each second.
  const after = await store.findStored(owner, id);
  if (after === null) throw responseNotFound(id);
  return pausableBody(after);
}
