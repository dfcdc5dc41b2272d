import { expect } from "vitest";
import { z } from "zod";

const Envelope = z.strictObject({
  error: z.strictObject({
    message: z.string().min(1),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string(),
  }),
});

export type CatalogueError = z.infer<typeof Envelope>["error"];

/** The codes of the error catalogue. An error without a code in the reference is listed by its type. */
const CODES: ReadonlySet<string> = new Set([
  "array_above_max_length",
  "array_below_min_length",
  "context_length_exceeded",
  "decimal_above_max_value",
  "decimal_below_min_value",
  "empty_array",
  "empty_file",
  "empty_image_file",
  "failed_to_download_file",
  "failed_to_download_image",
  "file_not_found",
  "file_too_large",
  "image_file_not_found",
  "image_file_too_large",
  "image_too_large",
  "insufficient_quota",
  "integer_above_max_value",
  "integer_below_min_value",
  "invalid_api_key",
  "invalid_base64_image",
  "invalid_encrypted_content",
  "invalid_file_url",
  "invalid_function_parameters",
  "invalid_image_format",
  "invalid_image_url",
  "invalid_json",
  "invalid_json_schema",
  "invalid_request_error",
  "invalid_type",
  "invalid_value",
  "malformed_request",
  "missing_required_parameter",
  "model_authentication_failed",
  "model_not_found",
  "mutually_exclusive_parameters",
  "object_above_max_properties",
  "previous_response_not_found",
  "rate_limit_exceeded",
  "request_timeout",
  "request_too_large",
  "server_error",
  "server_is_overloaded",
  "string_above_max_length",
  "string_below_min_length",
  "unknown_parameter",
  "unsupported_content_encoding",
  "unsupported_file",
  "unsupported_image_media_type",
  "unsupported_media_type",
  "unsupported_parameter",
  "unsupported_value",
  "upgrade_required",
]);

/** Words that only an implementation would use: stack frames, file names, a validator's own messages. */
const INTERNALS =
  /\n\s+at |node_modules|\.[jt]s:\d|\bmust (?:be (?:string|number|integer|boolean|array|object|null|equal)|have required|match|NOT)\b|SyntaxError|Unexpected token|SQLITE|undici|ECONN/;

/** The error in a body, checked against the envelope and the catalogue. */
export function readError(body: string): CatalogueError {
  const { error } = Envelope.parse(JSON.parse(body));
  expect(CODES, body).toContain(error.code);
  expect(error.message, body).not.toMatch(INTERNALS);
  return error;
}

/** The error of a reply that must be one. */
export async function errorOf(reply: Response): Promise<CatalogueError & { readonly status: number }> {
  const body = await reply.text();
  expect(reply.headers.get("content-type"), body).toMatch(/^application\/json/);
  expect(reply.headers.get("x-request-id"), body).toMatch(/^req_[0-9a-f]{32}$/);
  return { status: reply.status, ...readError(body) };
}
