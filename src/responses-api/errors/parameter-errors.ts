import type { ApiError } from "@antiphon/base/api-error.ts";
import { invalidRequest } from "./invalid-request.ts";
import { quotedList } from "./validation/quoted-list.ts";

export function unknownParameter(param: string, hint: string): ApiError {
  return invalidRequest(400, "unknown_parameter", param, `Unknown parameter: '${param}'.${hint}`);
}

/** The error for a member of the Chat Completions API that has another name in this API. */
export function movedParameter(param: string, movedTo: string): ApiError {
  return invalidRequest(
    400,
    "unsupported_parameter",
    null,
    `Unsupported parameter: '${param}'. In the Responses API, this parameter has moved to '${movedTo}'.`,
  );
}

/** `hint` is empty, or a sentence with a blank before it. */
export function missingParameter(param: string, hint = ""): ApiError {
  return invalidRequest(400, "missing_required_parameter", param, `Missing required parameter: '${param}'.${hint}`);
}

export function nothingToAnswer(): ApiError {
  return invalidRequest(
    400,
    "missing_required_parameter",
    null,
    `One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.`,
  );
}

export function backgroundWithoutStore(): ApiError {
  return unsupportedParameter(
    "background",
    "Background responses are always stored, so it cannot be combined with 'store' false.",
  );
}

/** `expectedType` and `got` include their articles: "a string", "an array". */
export function invalidType(param: string, expectedType: string, got: string): ApiError {
  return invalidRequest(
    400,
    "invalid_type",
    param,
    `Invalid type for '${param}': expected ${expectedType}, but got ${got} instead.`,
  );
}

export function invalidValue(param: string, value: string, choices: readonly string[]): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    param,
    `Invalid value: '${value}'. Supported values are: ${quotedList(choices, "and")}.`,
  );
}

export function invalidLastEventId(): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    "Last-Event-ID",
    "Invalid 'Last-Event-ID': expected the id of an event of this stream, which is its sequence number.",
  );
}

export function emptyArray(param: string): ApiError {
  return outOfBounds(
    "empty_array",
    param,
    "empty array. Expected an array with minimum length 1, but got an empty array instead.",
  );
}

/** The error for a value outside a limit. `code` names the limit, `what` describes how it was broken. */
export function outOfBounds(code: string, param: string, what: string): ApiError {
  return invalidRequest(400, code, param, `Invalid '${param}': ${what}`);
}

export function illFormedId(param: string, id: string, prefix: string): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    param,
    `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`,
  );
}

export function illFormedItemId(param: string, id: string): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    param,
    `Invalid '${param}': '${id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`,
  );
}

/** The error for an input item that is valid as sent but lacks members that a stored item must have. */
export function unusableItem(param: string, type: string): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    param,
    `Invalid '${param}': this item of type '${type}' lacks members that every listed item of this type has.`,
  );
}

export function misplacedTrigger(param: string): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    param,
    `Invalid '${param}': an item of type 'compaction_trigger' must be the last of the input.`,
  );
}

/** The error for a member or value that this server does not support. */
export function unsupportedParameter(param: string, note: string): ApiError {
  return invalidRequest(400, "unsupported_parameter", param, `Unsupported parameter: '${param}'. ${note}`);
}

/** The error for an invalid use of a tool. `reason` is a whole sentence. */
export function invalidTool(param: string, reason: string): ApiError {
  return invalidRequest(400, "invalid_value", param, `Invalid '${param}': ${reason}`);
}

/** Audio is only delivered in events, and this response has none that the client could read. */
export function audioNotDeliverable(): ApiError {
  return unsupportedParameter("output_audio", "Audio is delivered in events only. Set `stream` or `store` to true.");
}

export function mutuallyExclusive(first: string, second: string): ApiError {
  return invalidRequest(
    400,
    "mutually_exclusive_parameters",
    null,
    `Mutually exclusive parameters: ''. Ensure you are only providing one of: '${first}' or '${second}'.`,
  );
}

export function jsonWordMissing(): ApiError {
  return invalidRequest(
    400,
    null,
    "input",
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
  );
}

export function toolChoiceWithoutTools(choice: string): ApiError {
  return invalidRequest(400, null, "tool_choice", `Tool choice '${choice}' must be specified with 'tools' parameter.`);
}

export function toolChoiceNotFound(choice: string): ApiError {
  return invalidRequest(400, null, "tool_choice", `Tool choice '${choice}' not found in 'tools' parameter.`);
}

/** `why` says what is wrong with the schema. */
export function invalidJsonSchema(name: string, why: string): ApiError {
  return invalidRequest(
    400,
    "invalid_json_schema",
    "text.format.schema",
    `Invalid schema for response_format '${name}': ${why}`,
  );
}

export function invalidFunctionParameters(index: number, name: string, why: string): ApiError {
  return invalidRequest(
    400,
    "invalid_function_parameters",
    `tools[${index}].parameters`,
    `Invalid schema for function '${name}': ${why}`,
  );
}

export function unsupportedFileData(param: string, mimeType: string): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    param,
    `Invalid file data: '${param}'. Expected a base64-encoded data URL with a known MIME type, but got unsupported MIME type '${mimeType}'.`,
  );
}
