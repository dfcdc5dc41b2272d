import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Response } from "../../../generated/responses-api/types.ts";
import type { RunHost } from "../../runs/index.ts";
import type { RunLedger } from "../../runs/ports.ts";
import type { ApiContext } from "../access/context.ts";
import { cancelTimedOut } from "../errors/server-errors.ts";
import { cannotCancelCompleted, cannotCancelSynchronous, responseNotFound } from "../errors/state-errors.ts";
import type { ResponseStore, StoredResponse } from "../ports.ts";
import { plainBody } from "../show/plain-body.ts";
import { isOver, waitUntilOver } from "../show/watch-response.ts";

export interface CancelParts {
  readonly store: Pick<ResponseStore, "findResponse" | "findStored">;
  readonly runs: Pick<RunHost, "stop">;
  readonly ledger: Pick<RunLedger, "askToStop">;
}

/** How long the process that makes a response may take to stop it. */
const STOP_ELSEWHERE_MS = 15_000;

/**
 * `POST /v1/responses/{response_id}/cancel`: stops what is running, in the background or (an extension) in the
 * foreground.
 */
export function cancelResponse(parts: CancelParts): ResponsesApiHandlers<ApiContext>["cancelResponse"] {
  return async ({ path: { response_id: id } }, { principal: { owner }, signal }) => {
    const stored = await parts.store.findStored(owner, id);
    if (stored === null) throw responseNotFound(id);
    if (isOver(stored.response)) return { status: 200, body: plainBody(cancelledLate(stored)) };
    const isStopped = await parts.runs.stop(id);
    if (!isStopped) await parts.ledger.askToStop(id);
    const response = await waitUntilOver(parts.store, { owner, responseId: id, signal }, STOP_ELSEWHERE_MS);
    if (response === null) throw responseNotFound(id);
    if (!isOver(response)) throw cancelTimedOut();
    return { status: 200, body: plainBody(response) };
  };
}

/** What the reference answers when there is nothing left to stop. */
function cancelledLate({ response, streamed }: StoredResponse): Response {
  if (response.status === "cancelled" && response.background === true) return response;
  if (response.background !== true) throw cannotCancelSynchronous();
  if (streamed) throw cannotCancelCompleted();
  return response;
}
