import {
  APIError,
  type APIErrorFields,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  IdleTimeoutError,
  InternalServerError,
  InvalidMessageError,
  NotFoundError,
  NotImplementedError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
  UnsupportedFormatError,
} from "./errors.ts";
import { isRecord, numberAt, parseJson, textAt } from "./json-members.ts";

const ERROR_BODY_CHARACTERS_MAX = 1024 * 1024;
const SHOWN_CHARACTERS_MAX = 200;

const CLASS_BY_STATUS: ReadonlyMap<number, new (fields: APIErrorFields) => APIError> = new Map([
  [400, BadRequestError],
  [401, AuthenticationError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [409, ConflictError],
  [422, UnprocessableEntityError],
  [429, RateLimitError],
  [501, NotImplementedError],
]);

/** The typed error of a reply with an error status, for any body. */
export async function readError(response: Response): Promise<APIError> {
  const { status, statusText, headers } = response;
  const text = await readStart(response);
  const description = describeError(parseJson(text));
  const message = description.message ?? `The server answered ${status} ${statusText}${quoteStart(text)}`;
  const fields = { ...description, message, status, requestId: headers.get("x-request-id"), headers };
  const ErrorClass = CLASS_BY_STATUS.get(status) ?? (status >= 500 ? InternalServerError : APIError);
  return new ErrorClass(fields);
}

/** The error of an `error` event, whose members may be nested in `error`, as in the reference, or flat. */
export function errorOfEvent(event: unknown, headers: Headers): APIError {
  const description = describeError(event);
  const status = isRecord(event) ? numberAt(event, "status") : null;
  const message = description.message ?? "The server failed in the middle of the stream.";
  return new APIError({ ...description, message, status, requestId: headers.get("x-request-id"), headers });
}

const CLASS_BY_CODE: ReadonlyMap<string, new (fields: APIErrorFields) => APIError> = new Map([
  ["idle_timeout", IdleTimeoutError],
  ["internal_error", InternalServerError],
  ["invalid_message", InvalidMessageError],
  ["rate_limited", RateLimitError],
  ["unsupported_format", UnsupportedFormatError],
]);

/** The typed error of an error message of the cloud stream. */
export function cloudErrorOf(event: unknown): APIError {
  const description = describeError(event);
  const message = description.message ?? "The service ended the stream.";
  const ErrorClass = CLASS_BY_CODE.get(description.code ?? "") ?? APIError;
  return new ErrorClass({ ...description, message, status: null, requestId: null, headers: new Headers() });
}

interface DescribedError {
  readonly message: string | null;
  readonly code: string | null;
  readonly param: string | null;
  readonly type: string | null;
}

function describeError(body: unknown): DescribedError {
  const inner = isRecord(body) ? body["error"] : undefined;
  const error = isRecord(inner) ? inner : isRecord(body) ? body : {};
  return {
    message: textAt(error, "message") ?? (typeof inner === "string" ? inner : null),
    code: textAt(error, "code"),
    param: textAt(error, "param"),
    type: isRecord(inner) ? textAt(error, "type") : null, // A flat event's type is always "error".
  };
}

/** The start of a body. If it breaks off, the part that arrived is enough, because the status is known. */
async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += decoder.decode(value, { stream: true });
      if (text.length > ERROR_BODY_CHARACTERS_MAX) return text;
    }
  } catch {
    return text;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function quoteStart(text: string): string {
  const words = text.replaceAll(/\s+/g, " ").trim();
  if (words === "") return ".";
  return `: ${words.length > SHOWN_CHARACTERS_MAX ? `${words.slice(0, SHOWN_CHARACTERS_MAX)}…` : words}`;
}
