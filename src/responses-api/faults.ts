import type { ApiError } from "../base/api-error.ts";
import { assertNever } from "../base/assert.ts";
import {
  binaryMessage,
  bodyTimedOut,
  bodyTooLarge,
  internalError,
  invalidClientRequestId,
  invalidForm,
  invalidJson,
  invalidType,
  invalidValue,
  malformedRequest,
  methodNotAllowed,
  missingParameter,
  outOfBounds,
  renderError,
  shuttingDown,
  unknownRoute,
  unsupportedEncoding,
  unsupportedMediaType,
} from "./errors.ts";
import { type Refusal, validationError } from "./validation-error.ts";

/** Why a query parameter was refused. */
export type QueryRefusal = { readonly name: string } & (
  | { readonly reason: "missing" }
  | { readonly reason: "type"; readonly value: string; readonly expected: "integer" | "number" | "boolean" }
  | { readonly reason: "enum"; readonly value: string; readonly allowed: readonly string[] }
  | { readonly reason: "minimum" | "maximum"; readonly value: number; readonly limit: number; readonly integer: boolean }
);

/** How Interface A says what went wrong before or around its operations. */
export const responsesApiFaults = {
  renderError,
  streamError,
  invalidJson,
  bodyTooLarge,
  bodyTimedOut,
  unsupportedMediaType,
  unsupportedEncoding,
  invalidForm,
  invalidBody: (_operationId: string, _body: unknown, refusals: readonly Refusal[]): ApiError => validationError(refusals, ""),
  invalidQuery,
  invalidClientRequestId,
  malformedRequest,
  unknownRoute,
  methodNotAllowed,
  binaryMessage,
  shuttingDown,
  internalError,
};

/** A run always ends its own stream; this is for a stream that cannot be read to that end. `last` is the latest event that was sent. */
function streamError(error: ApiError, last: object | null): readonly { readonly type: string }[] {
  const number = last !== null && "sequence_number" in last && typeof last.sequence_number === "number" ? last.sequence_number + 1 : 0;
  return [{ type: "error", sequence_number: number, ...renderError(error) }];
}

const EXPECTED = { integer: "an integer", number: "a decimal", boolean: "a boolean" } as const;

function invalidQuery(refusal: QueryRefusal): ApiError {
  switch (refusal.reason) {
    case "missing":
      return missingParameter(refusal.name);
    case "type":
      return invalidType(refusal.name, EXPECTED[refusal.expected], "a string");
    case "enum":
      return invalidValue(refusal.name, refusal.value, refusal.allowed);
    case "minimum":
    case "maximum":
      return queryOutOfBounds(refusal);
    default:
      return assertNever(refusal);
  }
}

function queryOutOfBounds({ name, reason, value, limit, integer }: Extract<QueryRefusal, { reason: "minimum" | "maximum" }>): ApiError {
  const kind = integer ? "integer" : "decimal";
  const [code, place, sign] = reason === "minimum" ? ["below_min", "below minimum", ">="] : ["above_max", "above maximum", "<="];
  return outOfBounds(`${kind}_${code}_value`, name, `${kind} ${place} value. Expected a value ${sign} ${limit}, but got ${value} instead.`);
}
