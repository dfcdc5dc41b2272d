import { ApiError } from "@antiphon/base/api-error.ts";
import type { SchemaRefusal } from "@antiphon/base/json/schema-refusal.ts";
import type { QueryRefusal } from "@antiphon/base/query-refusal.ts";
import { UnfinishedStream } from "@antiphon/base/streams/unfinished-stream.ts";
import type { StreamEvent } from "./handler.ts";

/** The errors of an interface for faults outside its handlers. */
export interface Faults {
  renderError(error: ApiError): object;
  /** The form of errors on this path if it has one of its own; null otherwise. */
  errorFormOf?(path: string): ErrorForm | null;
  /** The last events of a stream that fails; `last` is the latest value that was sent. */
  streamError(error: ApiError, last: object | null): readonly StreamEvent[];

  invalidJson(): ApiError;
  bodyTooLarge(bytesMax: number): ApiError;
  /** A WebSocket message is larger than this. */
  messageTooLarge(bytesMax: number): ApiError;
  /** A compressed body unpacks to more than `ratioMax` times its size. */
  bodyPackedTooTightly(ratioMax: number): ApiError;
  /** The bodies and messages being read have used up their memory budget. */
  noRoomForBody(): ApiError;
  /** A file of a form, or the form as a whole, is larger than this. */
  fileTooLarge(bytesMax: number): ApiError;
  bodyTimedOut(): ApiError;
  unsupportedMediaType(contentType: string, operationId: string): ApiError;
  unsupportedEncoding(encoding: string): ApiError;
  /** `part` is the name of the invalid part, or null if it is not known. */
  invalidForm(reason: string, part: string | null): ApiError;
  invalidBody(operationId: string, body: unknown, refusals: readonly SchemaRefusal[]): ApiError;
  invalidQuery(refusal: QueryRefusal): ApiError;
  invalidClientRequestId(): ApiError;
  /** The connection sent bytes that are not valid HTTP; the status is 400, 408 or 431. */
  malformedRequest(status: number): ApiError;

  unknownRoute(method: string, path: string): ApiError;
  /** The error must carry `allow` as its header `Allow`. */
  methodNotAllowed(method: string, path: string, allow: string): ApiError;
  /** A plain request to a path that takes WebSockets only. Without this method it is an unknown route. */
  upgradeRequired?(path: string): ApiError;
  /** A binary frame on a WebSocket with JSON text. */
  binaryMessage(): ApiError;

  /** Translates an error that is not an `ApiError`; null if it is an internal error. */
  ofError?(error: unknown): ApiError | null;
  shuttingDown(): ApiError;
  internalError(requestId: string): ApiError;
}

/** How an error is answered. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export type ErrorForm = (error: ApiError, requestId: string) => ErrorReply;

/** The reply for an error of a request on this path. */
export function errorReply(
  error: ApiError,
  { path, requestId }: { readonly path: string; readonly requestId: string },
  faults: Pick<Faults, "renderError" | "errorFormOf">,
): ErrorReply {
  const form = faults.errorFormOf?.(path) ?? null;
  if (form !== null) return form(error, requestId);
  return { status: error.status, headers: error.headers, body: faults.renderError(error) };
}

/** The `ApiError` for a thrown error; null for an internal error, whose details callers do not see. */
export function namedFault(error: unknown, faults: Pick<Faults, "ofError">): ApiError | null {
  if (error instanceof ApiError) return error;
  return error instanceof UnfinishedStream ? namedFault(error.cause, faults) : (faults.ofError?.(error) ?? null);
}
