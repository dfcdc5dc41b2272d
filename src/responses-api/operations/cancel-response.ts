import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { StoredResponse } from "@antiphon/domain/responses.ts";
import type { RunLedger } from "../../runs/ports/run-ledger.ts";
import type { Caller } from "../access/caller.ts";
import { cancelTimedOut } from "../errors/server-errors.ts";
import { cannotCancelCompleted, cannotCancelSynchronous, responseNotFound } from "../errors/state-errors.ts";
import { plainBody } from "../show/plain-body.ts";
import { isOver, type WatchContext, waitUntilOver } from "../show/watch-response.ts";

/** How long to wait for another process to stop its response. */
const STOP_ELSEWHERE_MS = 15_000;

/**
 * `POST /v1/responses/{response_id}/cancel`: stops a running background response or, as an extension, a foreground one.
 */
export function cancelResponse(
  context: WatchContext,
  ledger: RunLedger,
): ResponsesApiHandlers<Caller>["cancelResponse"] {
  return async ({ path: { response_id: id } }, { principal: { owner }, signal }) => {
    const storedResponse = await context.store.findStored(owner, id);
    if (storedResponse === null) throw responseNotFound(id);
    if (isOver(storedResponse.response)) return { status: 200, body: plainBody(lateCancelReply(storedResponse)) };
    const wasHere = await context.runs.stop(id);
    const now = wasHere ? await context.store.findResponse(owner, id) : storedResponse.response;
    if (now !== null && !isOver(now)) {
      // Another process makes it, or it was paused in this moment.
      await ledger.requestStop(id);
      await context.runs.requests.tell(id); // If it is paused, nobody makes it.
      context.neighbours?.tellStop(id); // Its worker also looks by itself, each second.
    }
    const response = await waitUntilOver(context, { owner, responseId: id, signal }, STOP_ELSEWHERE_MS);
    if (response === null) throw responseNotFound(id);
    if (!isOver(response)) throw cancelTimedOut();
    return { status: 200, body: plainBody(response) };
  };
}

/** Answers as the reference does when the response has already ended. */
function lateCancelReply({ response, isStreamed }: StoredResponse): Response {
  if (response.status === "cancelled" && response.background === true) return response;
  if (response.background !== true) throw cannotCancelSynchronous();
  if (isStreamed) throw cannotCancelCompleted();
  return response;
}
