import { ApiError } from "../base/api-error.ts";
import type { ModelError } from "../runs/ports.ts";

/**
 * The error catalogue of Interface A. `code` is the reference's specific code, null where it has none; `renderError` then repeats `type`.
 * Formulas that clients parse are the reference's; other texts are ours.
 */
const INVALID = "invalid_request_error";

function invalid(status: number, code: string | null, param: string | null, message: string): ApiError {
  return new ApiError({ status, type: INVALID, code, param, message });
}

/** `{error: {message, type, param, code}}`, in the reference's order of keys. */
export function renderError(error: ApiError): {
  error: { message: string; type: string; param: string | null; code: string };
} {
  return { error: { message: error.message, type: error.type, param: error.param, code: error.code ?? error.type } };
}

// Authentication

export function missingApiKey(): ApiError {
  return new ApiError({
    status: 401,
    type: INVALID,
    code: null,
    message: "You didn't provide an API key. Send it in the Authorization header: 'Authorization: Bearer YOUR_KEY'.",
    headers: BEARER_CHALLENGE,
  });
}

/** `masked` is the key with its middle hidden. */
export function incorrectApiKey(masked: string): ApiError {
  return new ApiError({
    status: 401,
    type: INVALID,
    code: "invalid_api_key",
    message: `Incorrect API key provided: ${masked}. The server's first start printed a key, and wrote it to its data folder.`,
    headers: BEARER_CHALLENGE,
  });
}

const BEARER_CHALLENGE = { "WWW-Authenticate": 'Bearer realm="OpenAI API"' };

// The request as bytes

export function invalidJson(): ApiError {
  return invalid(
    400,
    "invalid_json",
    null,
    "Invalid body: failed to parse JSON value. Please check the value to ensure it is valid JSON. (Common errors include trailing commas, missing closing brackets, missing quotation marks, etc.)",
  );
}

export function bodyTooLarge(bytesMax: number): ApiError {
  return invalid(413, "request_too_large", null, `The request body is larger than ${bytesMax} bytes.`);
}

export function bodyTimedOut(): ApiError {
  return invalid(408, "request_timeout", null, "The request body did not arrive in time.");
}

export function unsupportedMediaType(given: string): ApiError {
  return invalid(415, "unsupported_media_type", null, `Unsupported content type: '${given}'. Send 'application/json'.`);
}

export function unsupportedEncoding(given: string): ApiError {
  return invalid(415, "unsupported_content_encoding", null, `Unsupported content encoding: '${given}'.`);
}

export function unknownRoute(method: string, path: string): ApiError {
  return invalid(404, null, null, `Invalid URL (${method} ${path})`);
}

export function invalidClientRequestId(): ApiError {
  return invalid(400, "invalid_value", null, "Invalid 'X-Client-Request-Id': expected at most 512 ASCII characters.");
}

/** `part` is the part of the form at fault, where it is known. */
export function invalidForm(reason: string, part: string | null): ApiError {
  return invalid(400, "invalid_form", part, `Invalid form: ${reason}`);
}

/** The bytes on the connection are not HTTP; the status is 400, 408 or 431. */
export function malformedRequest(status: number): ApiError {
  return invalid(status, "malformed_request", null, "The request could not be read as HTTP.");
}

export function binaryMessage(): ApiError {
  return invalid(400, "invalid_json", null, "Expected a text message with JSON, but got a binary one.");
}

// Members of the request

export function unknownParameter(param: string, hint: string): ApiError {
  return invalid(400, "unknown_parameter", param, `Unknown parameter: '${param}'.${hint}`);
}

/** A member of chat completions that has another name here. */
export function movedParameter(param: string, movedTo: string): ApiError {
  return invalid(
    400,
    "unsupported_parameter",
    null,
    `Unsupported parameter: '${param}'. In the Responses API, this parameter has moved to '${movedTo}'.`,
  );
}

export function missingParameter(param: string): ApiError {
  return invalid(400, "missing_required_parameter", param, `Missing required parameter: '${param}'.`);
}

export function nothingToAnswer(): ApiError {
  return invalid(
    400,
    "missing_required_parameter",
    null,
    `One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.`,
  );
}

/** `expected` and `got` carry their articles: "a string", "an array". */
export function invalidType(param: string, expected: string, got: string): ApiError {
  return invalid(
    400,
    "invalid_type",
    param,
    `Invalid type for '${param}': expected ${expected}, but got ${got} instead.`,
  );
}

export function invalidValue(param: string, value: string, supported: readonly string[]): ApiError {
  return invalid(
    400,
    "invalid_value",
    param,
    `Invalid value: '${value}'. Supported values are: ${quotedList(supported)}.`,
  );
}

/** A limit of a number, a string, an array or an object; `code` names it, `what` describes the breach. */
export function outOfBounds(code: string, param: string, what: string): ApiError {
  return invalid(400, code, param, `Invalid '${param}': ${what}`);
}

export function illFormedId(param: string, id: string, prefix: string): ApiError {
  return invalid(
    400,
    "invalid_value",
    param,
    `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`,
  );
}

export function illFormedItemId(param: string, id: string): ApiError {
  return invalid(
    400,
    "invalid_value",
    param,
    `Invalid '${param}': '${id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`,
  );
}

/** An element of `input` that has the form of its type but cannot be kept as one. */
export function unusableItem(param: string, type: string): ApiError {
  return invalid(
    400,
    "invalid_value",
    param,
    `Invalid '${param}': this item of type '${type}' lacks members it was listed with.`,
  );
}

/** A member or value this server does not act on yet, said by the field ledger. */
export function unsupportedParameter(param: string, note: string): ApiError {
  return invalid(400, "unsupported_parameter", param, `Unsupported parameter: '${param}'. ${note}`);
}

export function mutuallyExclusive(first: string, second: string): ApiError {
  return invalid(
    400,
    "mutually_exclusive_parameters",
    null,
    `Mutually exclusive parameters: ''. Ensure you are only providing one of: '${first}' or '${second}'.`,
  );
}

export function jsonWordMissing(): ApiError {
  return invalid(
    400,
    null,
    "input",
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
  );
}

export function toolChoiceWithoutTools(choice: string): ApiError {
  return invalid(400, null, "tool_choice", `Tool choice '${choice}' must be specified with 'tools' parameter.`);
}

export function toolChoiceNotFound(choice: string): ApiError {
  return invalid(400, null, "tool_choice", `Tool choice '${choice}' not found in 'tools' parameter.`);
}

/** `where` is the path to the schema; `why` says what is wrong with it. */
export function invalidJsonSchema(name: string, why: string): ApiError {
  return invalid(
    400,
    "invalid_json_schema",
    "text.format.schema",
    `Invalid schema for response_format '${name}': ${why}`,
  );
}

export function invalidFunctionParameters(index: number, name: string, why: string): ApiError {
  return invalid(
    400,
    "invalid_function_parameters",
    `tools[${index}].parameters`,
    `Invalid schema for function '${name}': ${why}`,
  );
}

export function unsupportedFileData(param: string, mimeType: string): ApiError {
  return invalid(
    400,
    "invalid_value",
    param,
    `Invalid file data: '${param}'. Expected a base64-encoded data URL with a known MIME type, but got unsupported MIME type '${mimeType}'.`,
  );
}

// State

export function responseNotFound(id: string): ApiError {
  return invalid(404, null, null, `Response with id '${id}' not found.`);
}

/** The reference's own path to a stored stream is for background responses only. */
export function notReplayable(): ApiError {
  const message = "This response cannot be streamed because it was not created with background=true.";
  return invalid(400, null, "stream", message);
}

export function previousResponseNotFound(id: string): ApiError {
  return invalid(
    400,
    "previous_response_not_found",
    "previous_response_id",
    `Previous response with id '${id}' not found.`,
  );
}

export function previousResponseRunning(id: string): ApiError {
  return invalid(
    400,
    "previous_response_not_found",
    "previous_response_id",
    `Previous response with id '${id}' is still in progress.`,
  );
}

export function itemNotStored(id: string): ApiError {
  return invalid(
    404,
    null,
    "input",
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
  );
}

export function toolOutputMissing(callId: string): ApiError {
  return invalid(400, null, "input", `No tool output found for function call ${callId}.`);
}

export function toolCallMissing(callId: string): ApiError {
  return invalid(400, null, "input", `No tool call found for function call output with call_id ${callId}.`);
}

export function duplicateItem(id: string): ApiError {
  return invalid(
    400,
    null,
    "input",
    `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
  );
}

export function invalidEncryptedContent(): ApiError {
  return invalid(
    400,
    "invalid_encrypted_content",
    null,
    "The encrypted content could not be verified. It was not made by this server, or not for this owner.",
  );
}

export function reasoningWithoutFollower(id: string): ApiError {
  return invalid(
    400,
    null,
    "input",
    `Item '${id}' of type 'reasoning' was provided without its required following item.`,
  );
}

// Models

export function modelUnknown(model: string): ApiError {
  return invalid(404, "model_not_found", "model", `The model '${model}' does not exist.`);
}

/** What the model server said before it began to answer, as HTTP. */
export function modelRefused(error: ModelError): ApiError {
  const retry = error.retryAfterSeconds;
  return new ApiError({
    status: error.status,
    type: error.type,
    code: error.code,
    param: error.param,
    message: error.message,
    headers: retry === null ? {} : { "Retry-After": String(Math.max(1, Math.ceil(retry))) },
    cause: error,
  });
}

// The server

export function notImplemented(operationId: string): ApiError {
  return new ApiError({
    status: 501,
    type: "server_error",
    code: "not_implemented",
    message: `The operation '${operationId}' is not implemented yet.`,
  });
}

/** WebSocket mode is not offered: the one status that makes clients fall back to HTTP at once. */
export function upgradeNotOffered(): ApiError {
  return invalid(426, "upgrade_required", null, "This server does not offer WebSocket mode. Send POST /v1/responses.");
}

export function tooManyRuns(runsMax: number): ApiError {
  return new ApiError({
    status: 503,
    type: "server_error",
    code: "server_is_overloaded",
    message: `The server is answering ${runsMax} requests already. Please retry in a moment.`,
    headers: { "Retry-After": "1" },
  });
}

export function shuttingDown(): ApiError {
  return new ApiError({
    status: 503,
    type: "server_error",
    code: "server_is_overloaded",
    message: "The server is shutting down. Please retry in a moment.",
    headers: { "Retry-After": "1" },
  });
}

export function internalError(requestId: string): ApiError {
  return new ApiError({
    status: 500,
    type: "server_error",
    code: null,
    message: `An error occurred while processing your request. You can retry your request. Please include the request ID ${requestId} when you report it.`,
  });
}

function quotedList(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  if (quoted.length < 3) return quoted.join(" and ");
  return `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`;
}
