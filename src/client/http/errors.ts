/** Every failure that this client makes itself. */
export class AntiphonError extends Error {
  override readonly name: string = "AntiphonError";
}

/** No reply came, or it broke off. */
export class APIConnectionError extends AntiphonError {
  override readonly name: string = "APIConnectionError";
}

/** The server was silent for longer than `timeoutMs`. */
export class APITimeoutError extends APIConnectionError {
  override readonly name: string = "APITimeoutError";
}

export function silentFor(timeoutMs: number): APITimeoutError {
  return new APITimeoutError(`The server was silent for ${timeoutMs} ms.`);
}

/** A stream ended before its terminal event. A stored response can be followed on from `lastSequenceNumber`. */
export class StreamBrokenError extends APIConnectionError {
  override readonly name: string = "StreamBrokenError";
  /** Number of the last event that came, or null if none had one. */
  readonly lastSequenceNumber: number | null;
  readonly requestId: string | null;

  constructor(
    message: string,
    { lastSequenceNumber, requestId, cause }: StreamPosition & { readonly cause?: unknown },
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.lastSequenceNumber = lastSequenceNumber;
    this.requestId = requestId;
  }
}

export interface StreamPosition {
  readonly lastSequenceNumber: number | null;
  readonly requestId: string | null;
}

/** The caller's signal aborted, or the caller left the stream. `cause` is the signal's reason. */
export class APIUserAbortError extends AntiphonError {
  override readonly name: string = "APIUserAbortError";
}

/** The server said that all was well, and what it sent cannot be read. */
export class InvalidReplyError extends AntiphonError {
  override readonly name: string = "InvalidReplyError";
}

export interface APIErrorFields {
  readonly message: string;
  /** Null if the server failed in the middle of a stream, whose status was 200. */
  readonly status: number | null;
  readonly code: string | null;
  readonly param: string | null;
  readonly type: string | null;
  readonly requestId: string | null;
  readonly headers: Headers;
}

/** The server refused or failed. Its class tells the status. */
export class APIError extends AntiphonError {
  override readonly name: string = "APIError";
  readonly status: number | null;
  readonly code: string | null;
  readonly param: string | null;
  readonly type: string | null;
  /** What to name when you report the failure. */
  readonly requestId: string | null;
  readonly headers: Headers;

  constructor({ message, status, code, param, type, requestId, headers }: APIErrorFields) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
    this.type = type;
    this.requestId = requestId;
    this.headers = headers;
  }
}

/** 400 */
export class BadRequestError extends APIError {
  override readonly name: string = "BadRequestError";
}

/** 401 */
export class AuthenticationError extends APIError {
  override readonly name: string = "AuthenticationError";
}

/** 403 */
export class PermissionDeniedError extends APIError {
  override readonly name: string = "PermissionDeniedError";
}

/** 404 */
export class NotFoundError extends APIError {
  override readonly name: string = "NotFoundError";
}

/** 409 */
export class ConflictError extends APIError {
  override readonly name: string = "ConflictError";
}

/** 422 */
export class UnprocessableEntityError extends APIError {
  override readonly name: string = "UnprocessableEntityError";
}

/** 429 */
export class RateLimitError extends APIError {
  override readonly name: string = "RateLimitError";
}

/** The cloud stream heard nothing for longer than it waits. */
export class IdleTimeoutError extends APIError {
  override readonly name: string = "IdleTimeoutError";
}

/** The cloud stream was sent a message that breaks its schema. */
export class InvalidMessageError extends APIError {
  override readonly name: string = "InvalidMessageError";
}

/** The cloud stream was sent other audio than 16-bit PCM. */
export class UnsupportedFormatError extends APIError {
  override readonly name: string = "UnsupportedFormatError";
}

/** 500 and above */
export class InternalServerError extends APIError {
  override readonly name: string = "InternalServerError";
}

/** 501 */
export class NotImplementedError extends InternalServerError {
  override readonly name: string = "NotImplementedError";
}
