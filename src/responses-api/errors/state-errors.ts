import type { ApiError } from "@antiphon/base/api-error.ts";
import { invalidRequest } from "./invalid-request.ts";

export function responseNotFound(id: string): ApiError {
  return invalidRequest(404, null, null, `Response with id '${id}' not found.`);
}

export function responseStillRuns(id: string): ApiError {
  return invalidRequest(400, null, null, `Response with id '${id}' has not ended yet. Its events carry its sound.`);
}

export function responseHasNoSound(id: string): ApiError {
  return invalidRequest(404, null, null, `Response with id '${id}' has no sound.`);
}

export function effectNotFound(id: string, effectId: string): ApiError {
  return invalidRequest(404, null, null, `No call '${effectId}' found for response with id '${id}'.`);
}

/** `state`: as in `ResponseEffect`. */
export function effectNotUnknown(effectId: string, state: string): ApiError {
  const message = `The outcome of call '${effectId}' is not unknown: its state is ${state}.`;
  return invalidRequest(400, "effect_not_unknown", null, message);
}

/** The error for a page cursor that is not in the list. */
export function cursorNotFound(after: string): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    "after",
    `Invalid 'after': '${after}'. No item of this list has that ID.`,
  );
}

/** The reference replays only streams of background responses that were created with `stream`. */
export function notMadeInBackground(): ApiError {
  const message = "This response cannot be streamed because it was not created with background=true.";
  return invalidRequest(400, null, "stream", message);
}

export function notMadeWithStream(): ApiError {
  const message = "This response cannot be streamed because it was not created with stream=true.";
  return invalidRequest(400, null, "stream", message);
}

export function cannotCancelSynchronous(): ApiError {
  return invalidRequest(400, null, null, "Cannot cancel a synchronous response.");
}

export function cannotCancelCompleted(): ApiError {
  return invalidRequest(400, null, null, "Cannot cancel a completed response.");
}

/** The response takes no pause and no input any more. */
export function responseNotActive(id: string): ApiError {
  return invalidRequest(400, "response_not_active", null, `Response '${id}' is not in progress.`);
}

export function responseAlreadyCompleted(id: string): ApiError {
  return invalidRequest(400, "response_already_completed", null, `Response '${id}' has completed already.`);
}

export function steeringNotSupported(): ApiError {
  const message =
    "Input can be added to background responses without a conversation and without automatic compaction only.";
  return invalidRequest(400, "steering_not_supported", null, message);
}

export function tooManySteers(id: string, steersMax: number): ApiError {
  const message = `${steersMax} inputs wait already for response '${id}'.`;
  return invalidRequest(400, "too_many_pending_steers", null, message);
}

export function pauseNotSupported(): ApiError {
  const message = "Only background responses can be paused: the client of another one waits on its connection.";
  return invalidRequest(400, "pause_not_supported", null, message);
}

export function previousResponseNotFound(id: string): ApiError {
  return invalidRequest(
    400,
    "previous_response_not_found",
    "previous_response_id",
    `Previous response with id '${id}' not found.`,
  );
}

export function previousResponseRunning(id: string): ApiError {
  return invalidRequest(
    400,
    "previous_response_not_found",
    "previous_response_id",
    `Previous response with id '${id}' is still in progress.`,
  );
}

/** `list`: the request member with the reference. */
export function itemNotStored(id: string, list = "input"): ApiError {
  return invalidRequest(
    404,
    null,
    list,
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
  );
}

const TOO_LONG = {
  conversation: "This conversation holds more text than one request may load. Please start a new conversation.",
  previous_response_id: "The previous responses hold more text than one request may load. Please start a new chain.",
  input: "The items that the input refers to hold more text than one request may load.",
  items: "The referenced items hold more text than one request may load.",
  history: "The previous responses hold more items than one request may list.",
} as const;

/**
 * The error when stored items exceed what one request may load into memory. `param` is the member that refers to them.
 */
export function contextTooLong(param: keyof typeof TOO_LONG): ApiError {
  return invalidRequest(400, "context_length_exceeded", param, TOO_LONG[param]);
}

export function toolOutputMissing(callId: string): ApiError {
  return invalidRequest(400, null, "input", `No tool output found for function call ${callId}.`);
}

export function toolCallMissing(callId: string): ApiError {
  return invalidRequest(400, null, "input", `No tool call found for function call output with call_id ${callId}.`);
}

export function duplicateItem(id: string, list = "input"): ApiError {
  return invalidRequest(
    400,
    null,
    list,
    `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
  );
}

export function invalidEncryptedContent(): ApiError {
  return invalidRequest(
    400,
    "invalid_encrypted_content",
    null,
    "The encrypted content could not be verified. It was not made by this server, or not for this owner.",
  );
}

export function reasoningWithoutFollower(id: string): ApiError {
  return invalidRequest(
    400,
    null,
    "input",
    `Item '${id}' of type 'reasoning' was provided without its required following item.`,
  );
}

export function invalidIdempotencyKey(): ApiError {
  const message = "Invalid 'Idempotency-Key': expected 1 to 255 visible ASCII characters.";
  return invalidRequest(400, "invalid_value", null, message);
}

/** Not 409, which the official SDKs repeat by themselves. */
export function idempotencyKeyReused(): ApiError {
  const message =
    "This 'Idempotency-Key' was used for a request with another body. Use a new key for each different request.";
  return invalidRequest(422, "idempotency_key_reused", null, message);
}

export function responseNotKept(): ApiError {
  const message =
    "A response was made for this 'Idempotency-Key' and was not stored, so it cannot be shown again. Use `store: true`, or a new key to make another response.";
  return invalidRequest(422, "response_not_kept", null, message);
}

/** The error for a key whose response was deleted. */
export function responseGone(id: string): ApiError {
  const message = `Response with id '${id}' was made for this 'Idempotency-Key' and has been deleted or has expired.`;
  return invalidRequest(410, "response_gone", null, message);
}
