import type { ApiError } from "../../base/api-error.ts";
import { invalidRequest } from "./invalid-request.ts";

export function responseNotFound(id: string): ApiError {
  return invalidRequest(404, null, null, `Response with id '${id}' not found.`);
}

/** The reference's own path to a stored stream is for background responses only. */
/** A page cannot begin after an item that is not in the list. */
export function cursorNotFound(after: string): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    "after",
    `Invalid 'after': '${after}'. No item of this list has that ID.`,
  );
}

export function notReplayable(): ApiError {
  const message = "This response cannot be streamed because it was not created with background=true.";
  return invalidRequest(400, null, "stream", message);
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

export function itemNotStored(id: string): ApiError {
  return invalidRequest(
    404,
    null,
    "input",
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
  );
}

export function toolOutputMissing(callId: string): ApiError {
  return invalidRequest(400, null, "input", `No tool output found for function call ${callId}.`);
}

export function toolCallMissing(callId: string): ApiError {
  return invalidRequest(400, null, "input", `No tool call found for function call output with call_id ${callId}.`);
}

export function duplicateItem(id: string): ApiError {
  return invalidRequest(
    400,
    null,
    "input",
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
