import type { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import type { SchemaRefusal } from "@antiphon/base/json/schema-refusal.ts";
import type { QueryRefusal } from "@antiphon/base/query-refusal.ts";
import { isStorageFull } from "@antiphon/base/storage-full.ts";
import { renderError } from "./invalid-request.ts";
import { invalidType, invalidValue, missingParameter } from "./parameter-errors.ts";
import {
  binaryMessage,
  bodyPackedTooTightly,
  bodyTimedOut,
  bodyTooLarge,
  invalidClientRequestId,
  invalidForm,
  invalidJson,
  malformedRequest,
  messageTooLarge,
  methodNotAllowed,
  unknownRoute,
  unsupportedEncoding,
  unsupportedMediaType,
} from "./request-errors.ts";
import { internalError, noRoomForBody, shuttingDown, storageFull } from "./server-errors.ts";
import { storeError } from "./store-errors.ts";
import { patternError, rangeError, sizeError } from "./validation/limit-error.ts";
import { validationError } from "./validation/validation-error.ts";

/** The errors of Interface A for faults that transport finds, such as an unreadable body. */
export const responsesApiFaults = {
  renderError,
  streamError,
  invalidJson,
  messageTooLarge,
  bodyTooLarge,
  bodyPackedTooTightly,
  noRoomForBody,
  fileTooLarge: bodyTooLarge,
  bodyTimedOut,
  unsupportedMediaType,
  unsupportedEncoding,
  invalidForm,
  invalidBody: (_operationId: string, _body: unknown, refusals: readonly SchemaRefusal[]): ApiError =>
    validationError(refusals, ""),
  invalidQuery,
  invalidClientRequestId,
  malformedRequest,
  unknownRoute,
  methodNotAllowed,
  binaryMessage,
  ofError,
  shuttingDown,
  internalError,
};

function ofError(error: unknown): ApiError | null {
  const apiError = storeError(error);
  if (apiError !== null) return apiError;
  return isStorageFull(error) ? storageFull(error) : null;
}

/**
 * The error event for a stream that ends before its response and that nobody can resume: the response has not begun, or
 * is not stored. It follows `last`, the latest event sent. A failed run needs none, because it ends its own stream; the
 * stream of a stored response is cut (`UnfinishedStream`).
 */
function streamError(error: ApiError, last: object | null): readonly { readonly type: string }[] {
  const lastNumber =
    last !== null && "sequence_number" in last && typeof last.sequence_number === "number" ? last.sequence_number : -1;
  const event = { type: "error", sequence_number: lastNumber + 1, ...renderError(error) };
  return [event];
}

const EXPECTED = { integer: "an integer", number: "a decimal", boolean: "a boolean", object: "an object" } as const;

function invalidQuery(refusal: QueryRefusal): ApiError {
  const { name, value } = refusal;
  switch (refusal.rule) {
    case "required":
      return missingParameter(name);
    case "type":
      return invalidType(name, EXPECTED[refusal.kind], "a string");
    case "enum":
      return invalidValue(name, value, refusal.choices);
    case "pattern":
      return patternError(name, refusal.pattern);
    case "minimum":
    case "maximum":
      return rangeError(refusal.rule, name, refusal.limit, { got: value, isInteger: refusal.integer });
    case "minLength":
    case "maxLength":
    case "maxItems":
      return sizeError(refusal.rule, name, refusal.limit, refusal.size);
    default:
      return assertNever(refusal);
  }
}
