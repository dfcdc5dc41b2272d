import type { ApiError } from "../../base/api-error.ts";
import { responseCancelled, responseNotMadeHere } from "../errors/websocket-errors.ts";
import type { Lane } from "./lanes.ts";
import type { ServedFrame } from "./serve-frame.ts";

/**
 * Stops a response of this connection; its frame is answered by its last event. Gives the error where there is none to
 * stop.
 */
export function cancelRun(
  serving: ReadonlyMap<Lane, ServedFrame>,
  lane: Lane,
  responseId: string | null,
): ApiError | null {
  const served = responseId === null ? servedIn(serving, lane) : servedAs(serving, responseId);
  if (served === null) return responseNotMadeHere(responseId);
  served.cancel.abort(responseCancelled());
  return null;
}

function servedAs(serving: ReadonlyMap<Lane, ServedFrame>, responseId: string): ServedFrame | null {
  for (const served of serving.values()) if (served.responseId === responseId) return served;
  return null;
}

/** Without a lane the only frame that is being served is meant as well. */
function servedIn(serving: ReadonlyMap<Lane, ServedFrame>, lane: Lane): ServedFrame | null {
  const [only] = serving.size === 1 && lane === null ? serving.values() : [];
  return serving.get(lane) ?? only ?? null;
}
