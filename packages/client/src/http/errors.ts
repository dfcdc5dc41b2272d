/** The base class of all errors of this client. */
export class AntiphonError extends Error {
  override readonly name: string = "AntiphonError";
}

/** No reply came, or the connection broke. */
export class APIConnectionError extends AntiphonError {
  override readonly name: string = "APIConnectionError";
}

/** The server was silent for longer than `timeoutMs`. */
export class APITimeoutError extends APIConnectionError {
  override readonly name: string = "APITimeoutError";
}

export function timeoutError(timeoutMs: number): APITimeoutError {
  return new APITimeoutError(`The server was silent for ${timeoutMs} ms.`);
}

/**
 * A stream ended before its terminal event. The stream of a stored response can be resumed after `lastSequenceNumber`.
 */
export class StreamBrokenError extends APIConnectionError {
  override readonly name: string = "StreamBrokenError";
  /** Sequence number of the last received event; null if none had one. */
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

/** The caller aborted the call or left the stream. `cause` is the reason of the caller's signal. */
export class APIUserAbortError extends AntiphonError {
  override readonly name: string = "APIUserAbortError";
}

/** The server reported success, but its reply cannot be read. */
export class InvalidReplyError extends AntiphonError {
  override readonly name: string = "InvalidReplyError";
}

export interface APIErrorFields {
  readonly message: string;
  /** HTTP status; null if the server failed in the middle of a stream, whose status was 200. */
  readonly status: number | null;
  readonly code: string | null;
  readonly param: string | null;
  readonly type: string | null;
  readonly requestId: string | null;
  readonly headers: Headers;
}

/** The server refused the call or failed. There is a subclass for each common status. */
export class APIError extends AntiphonError {
  override readonly name: string = "APIError";
  readonly status: number | null;
  readonly code: string | null;
  readonly param: string | null;
  readonly type: string | null;
  /** The `x-request-id` of the reply, for reports of the failure. */
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

/** Status 400. */
export class BadRequestError extends APIError {
  override readonly name: string = "BadRequestError";
}

/** Status 401. */
export class AuthenticationError extends APIError {
  override readonly name: string = "AuthenticationError";
}

/** Status 403. */
export class PermissionDeniedError extends APIError {
  override readonly name: string = "PermissionDeniedError";
}

/** Status 404. */
export class NotFoundError extends APIError {
  override readonly name: string = "NotFoundError";
}

/** Status 409. */
export class ConflictError extends APIError {
  override readonly name: string = "ConflictError";
}

/** Status 422. */
export class UnprocessableEntityError extends APIError {
  override readonly name: string = "UnprocessableEntityError";
}

/** Status 429, or `rate_limited` on the cloud stream. */
export class RateLimitError extends APIError {
  override readonly name: string = "RateLimitError";
}

/** The cloud service received no message for too long (`idle_timeout`). */
export class IdleTimeoutError extends APIError {
  override readonly name: string = "IdleTimeoutError";
}

/** The cloud service received a message that does not match its schema (`invalid_message`). */
export class InvalidMessageError extends APIError {
  override readonly name: string = "InvalidMessageError";
}

/** The cloud service received audio that is not 16-bit PCM (`unsupported_format`). */
export class UnsupportedFormatError extends APIError {
  override readonly name: string = "UnsupportedFormatError";
}

/** Status 500 and above. */
export class InternalServerError extends APIError {
  override readonly name: string = "InternalServerError";
}

/** Status 501. */
export class NotImplementedError extends InternalServerError {
  override readonly name: string = "NotImplementedError";
}
