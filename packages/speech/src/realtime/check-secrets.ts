import {
  validateRealtimeClientSecretRequest,
  validateRealtimeOlderSessionRequest,
} from "@antiphon/contracts/audio/validators.js";
import { realtimeRefusal } from "./errors.ts";

/** Checks the body of a request for a client secret. Throws the `ApiError` of a member that is not valid. */
export function checkClientSecretBody(body: unknown): unknown {
  if (validateRealtimeClientSecretRequest(body)) return body;
  throw realtimeRefusal(validateRealtimeClientSecretRequest.errors ?? [], "");
}

/** The same for its older form. */
export function checkOlderSessionBody(body: unknown): unknown {
  if (validateRealtimeOlderSessionRequest(body)) return body;
  throw realtimeRefusal(validateRealtimeOlderSessionRequest.errors ?? [], "");
}
