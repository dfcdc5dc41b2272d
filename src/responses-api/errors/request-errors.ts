import { ApiError } from "@antiphon/base/api-error.ts";
import { adviceOnPath } from "./absent-paths.ts";
import { INVALID, invalidRequest } from "./invalid-request.ts";

export function missingApiKey(): ApiError {
  return new ApiError({
    status: 401,
    type: INVALID,
    code: null,
    message: "You didn't provide an API key. Send it in the Authorization header: 'Authorization: Bearer YOUR_KEY'.",
    headers: BEARER_CHALLENGE,
  });
}

/** `maskedKey` is the key with its middle replaced by asterisks. */
export function incorrectApiKey(maskedKey: string): ApiError {
  return new ApiError({
    status: 401,
    type: INVALID,
    code: "invalid_api_key",
    message: `Incorrect API key provided: ${maskedKey}. The server printed a key at its first start and wrote it to its data folder.`,
    headers: BEARER_CHALLENGE,
  });
}

export function mismatchedOrganization(): ApiError {
  return mismatchError("organization", "Organization");
}

export function mismatchedProject(): ApiError {
  return mismatchError("project", "Project");
}

/** The name in `Host` may be that of a page that pointed it at this machine. */
export function foreignHost(): ApiError {
  return invalidRequest(
    403,
    "host_not_allowed",
    null,
    "Without a key, this server answers on its own machine only to requests for localhost, addresses and names of one label. CORS_ORIGINS names the origins of other pages, such as http://antiphon.test:8080.",
  );
}

/** The page that calls is not listed. */
export function foreignOrigin(): ApiError {
  return invalidRequest(
    403,
    "origin_not_allowed",
    null,
    "Pages of this origin may not call this server. CORS_ORIGINS names the origins of pages that may.",
  );
}

function mismatchError(what: string, header: string): ApiError {
  return new ApiError({
    status: 401,
    type: INVALID,
    code: `mismatched_${what}`,
    message: `The header OpenAI-${header} or Provider-${header} names ${what === "organization" ? "an organization" : "a project"} that this API key may not act for.`,
    headers: BEARER_CHALLENGE,
  });
}

const BEARER_CHALLENGE = { "WWW-Authenticate": 'Bearer realm="OpenAI API"' };

export function invalidJson(): ApiError {
  return invalidRequest(
    400,
    "invalid_json",
    null,
    "Invalid body: failed to parse JSON value. Please check the value to ensure it is valid JSON. (Common errors include trailing commas, missing closing brackets, missing quotation marks, etc.)",
  );
}

/** `got` includes its article: "an array". */
export function bodyNotAnObject(got: string): ApiError {
  return invalidRequest(400, "invalid_type", null, `Invalid body: expected an object, but got ${got} instead.`);
}

export function bodyTooLarge(bytesMax: number): ApiError {
  return invalidRequest(413, "request_too_large", null, `The request body is larger than ${bytesMax} bytes.`);
}

export function messageTooLarge(bytesMax: number): ApiError {
  return invalidRequest(413, "request_too_large", null, `The message is larger than ${bytesMax} bytes.`);
}

export function bodyPackedTooTightly(ratioMax: number): ApiError {
  const message = `The request body unpacks to more than ${ratioMax} times its size. Send it without compression.`;
  return invalidRequest(413, "request_too_large", null, message);
}

export function bodyTimedOut(): ApiError {
  return invalidRequest(408, "request_timeout", null, "The request body did not arrive in time.");
}

export function unsupportedMediaType(contentType: string): ApiError {
  return invalidRequest(
    415,
    "unsupported_media_type",
    null,
    `Unsupported content type: '${contentType}'. Send 'application/json'.`,
  );
}

export function unsupportedEncoding(encoding: string): ApiError {
  return invalidRequest(415, "unsupported_content_encoding", null, `Unsupported content encoding: '${encoding}'.`);
}

export function unknownRoute(method: string, path: string): ApiError {
  const advice = adviceOnPath(path);
  return invalidRequest(404, null, null, `Invalid URL (${method} ${path})${advice === null ? "" : `. ${advice}`}`);
}

export function methodNotAllowed(method: string, path: string, allow: string): ApiError {
  return new ApiError({
    status: 405,
    type: INVALID,
    code: null,
    message: `Invalid method for URL (${method} ${path})`,
    headers: { Allow: allow },
  });
}

export function invalidClientRequestId(): ApiError {
  return invalidRequest(
    400,
    "invalid_value",
    null,
    "Invalid 'X-Client-Request-Id': expected at most 512 ASCII characters.",
  );
}

/** `part` is the name of the invalid part of the form, if known. */
export function invalidForm(reason: string, part: string | null): ApiError {
  return invalidRequest(400, "invalid_form", part, `Invalid form: ${reason}`);
}

/** The error for bytes that are not HTTP; `status` is 400, 408 or 431. */
export function malformedRequest(status: number): ApiError {
  return invalidRequest(status, "malformed_request", null, "The request could not be read as HTTP.");
}

export function binaryMessage(): ApiError {
  return invalidRequest(415, "invalid_json", null, "Expected a text message with JSON, but got a binary one.");
}
