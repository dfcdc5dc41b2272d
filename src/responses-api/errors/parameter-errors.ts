import type { ApiError } from "../../base/api-error.ts";
import { quotedList } from "../checks/quoted-list.ts";
import { invalidRequest } from "./invalid-request.ts";

export function unknownParameter(param: string, hint: string): ApiError {
  return invalidRequest(400, "unknown_parameter", param, `Unknown parameter: '${param}'.${hint}`);
}

/** A member of chat completions that has another name here. */
export function movedParameter(param: string, movedTo: string): ApiError {
  return invalidRequest(
    400,
    "unsupported_parameter",
    null,
    `Unsupported parameter: '${param}'. In the Responses API, this parameter has moved to '${movedTo}'.`,
  );
}

export function missingParameter(param: string): ApiError {
  return invalidRequest(400, "missing_required_parameter", param, `Missing required parameter: '${param}'.`);
}

export function nothingToAnswer(): ApiError {
  return invalidRequest(
    400,
    "missing_required_parameter",
    null,
    `One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.`,
  );
}

/** What nobody waits for has to be stored somewhere. */
export function backgroundWithoutStore(): ApiError {
  return unsupportedParameter(
    "background",
    "Background responses are stored: it cannot be combined with 'store' false.",
  );
}

/** `expected` and `got` carry their articles: "a string", "an array". */
export function invalidType(param: string, expected: string, got: string): ApiError {
  return invalidRequest(
    400,
    "invalid_type",
    param,
    `Invalid type for '${param}': expected ${expected}, but got ${got} instead.`,
  );
}

export function invalidValue(param: string, value: string, supported: readonly string[]): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    param,
    `Invalid value: '${value}'. Supported values are: ${quotedList(supported, "and")}.`,
  );
}

/** Where at least one element is needed. */
export function emptyArray(param: string): ApiError {
  return outOfBounds(
    "empty_array",
    param,
    "empty array. Expected an array with minimum length 1, but got an empty array instead.",
  );
}

/** A limit of a number, a string, an array or an object; `code` names it, `what` describes the breach. */
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

/** An element of `input` that has the form of its type but cannot be kept as one. */
export function unusableItem(param: string, type: string): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    param,
    `Invalid '${param}': this item of type '${type}' lacks members it was listed with.`,
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

/** A member or value this server does not act on yet, said by the field ledger. */
export function unsupportedParameter(param: string, note: string): ApiError {
  return invalidRequest(400, "unsupported_parameter", param, `Unsupported parameter: '${param}'. ${note}`);
}

/** Nobody could hear it: it is neither streamed nor kept. */
export function soundUnheard(): ApiError {
  return unsupportedParameter("output_audio", "Sound travels in events; ask for it with `stream` or `store`.");
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

/** `where` is the path to the schema; `why` says what is wrong with it. */
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
