import { ApiError } from "../base/api-error.ts";
import type { SchemaRefusal } from "../base/json/schema-refusal.ts";
import type { QueryRefusal } from "../base/query-refusal.ts";
import type { StreamEvent } from "./handler.ts";

/** How an interface says what went wrong before or around its handlers. */
export interface Faults {
  renderError(error: ApiError): object;
  /** What a stream still says when it breaks; `last` is the latest value that was sent. */
  streamError(error: ApiError, last: object | null): readonly StreamEvent[];

  invalidJson(): ApiError;
  bodyTooLarge(bytesMax: number): ApiError;
  /** A message on a WebSocket. */
  messageTooLarge(bytesMax: number): ApiError;
  /** A compressed body that becomes more than so many times its size. */
  bodyPackedTooTightly(ratioMax: number): ApiError;
  /** The bodies and messages that are being read hold all the memory that they may. */
  noRoomForBody(): ApiError;
  /** A file of a form is larger than this, or the form is with all its parts. */
  fileTooLarge(bytesMax: number): ApiError;
  bodyTimedOut(): ApiError;
  unsupportedMediaType(given: string, operationId: string): ApiError;
  unsupportedEncoding(given: string): ApiError;
  /** `part` is the name of the part at fault, where it is known. */
  invalidForm(reason: string, part: string | null): ApiError;
  invalidBody(operationId: string, body: unknown, refusals: readonly SchemaRefusal[]): ApiError;
  invalidQuery(refusal: QueryRefusal): ApiError;
  invalidClientRequestId(): ApiError;
  /** The bytes on the connection are not HTTP we read; the status is 400, 408 or 431. */
  malformedRequest(status: number): ApiError;

  unknownRoute(method: string, path: string): ApiError;
  /** `allow` is the header of that name, which the error has to carry. */
  methodNotAllowed(method: string, path: string, allow: string): ApiError;
  /** A plain request to a path that only takes WebSockets; where it is left out, an unknown route. */
  upgradeRequired?(path: string): ApiError;
  /** A binary frame on a WebSocket that speaks JSON text. */
  binaryMessage(): ApiError;

  /** What an error that no handler has named says to callers; null, or left out: it is a fault of ours. */
  ofError?(error: unknown): ApiError | null;
  shuttingDown(): ApiError;
  internalError(requestId: string): ApiError;
}

/** What was thrown, as callers are told of it; null: it is a fault of ours, of which they learn nothing but that. */
export function namedFault(error: unknown, faults: Pick<Faults, "ofError">): ApiError | null {
  return error instanceof ApiError ? error : (faults.ofError?.(error) ?? null);
}
