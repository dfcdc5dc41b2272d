import type { ApiError } from "../../base/api-error.ts";
import { responseCancelled, responseNotMadeHere } from "../errors/websocket-errors.ts";
import type { Lane } from "./lanes.ts";
import type { ServedFrame } from "./serve-frame.ts";

/**
 * Cancels a response of this connection. Its last event is the reply. Returns an error if there is no such response.
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

/** The frame being served in `lane`. Without a lane it may also be the only frame being served. */
function servedIn(serving: ReadonlyMap<Lane, ServedFrame>, lane: Lane): ServedFrame | null {
  const [only] = serving.size === 1 && lane === null ? serving.values() : [];
  return serving.get(lane) ?? only ?? null;
}
