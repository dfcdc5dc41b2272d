import { type JsonObject, textOrNull } from "../json-values.ts";

/** HTTP statuses by error code or type in lower case, as used by the reference, by gateways and by local servers. */
const STATUS_OF_WORD: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  rate_limit_reached: 429,
  rate_limited: 429,
  ratelimiterror: 429,
  too_many_requests: 429,
  resource_exhausted: 429,
  tokens: 429,
  requests: 429,
  insufficient_quota: 429,
  billing_hard_limit_reached: 429,
  insufficient_balance: 402,
  payment_required: 402,
  billing_error: 402,
  invalid_api_key: 401,
  authentication_error: 401,
  unauthorized: 401,
  unauthenticated: 401,
  permission_error: 403,
  permission_denied: 403,
  model_not_found: 404,
  not_found_error: 404,
  notfounderror: 404,
  request_too_large: 413,
  context_length_exceeded: 400,
  exceed_context_size_error: 400,
  invalid_request_error: 400,
  invalid_argument: 400,
  badrequesterror: 400,
  invalid_prompt: 400,
  content_filter: 400,
  content_policy_violation: 400,
  bio_policy: 400,
  misalignment_policy_violation: 400,
  invalid_image: 400,
  invalid_image_format: 400,
  invalid_base64_image: 400,
  invalid_image_url: 400,
  image_parse_error: 400,
  image_too_large: 400,
  image_too_small: 400,
  image_content_policy_violation: 400,
  unsupported_image_media_type: 400,
  failed_to_download_image: 400,
  timeout: 408,
  timeout_error: 408,
  deadline_exceeded: 408,
  server_is_overloaded: 503,
  overloaded_error: 503,
  overloaded: 503,
  engine_overloaded: 503,
  service_unavailable: 503,
  unavailable: 503,
};

/**
 * The HTTP status of an error inside a stream, from its numbers or else from its code or type; null if neither is
 * known.
 */
export function readStreamErrorStatus(error: JsonObject): number | null {
  const members = [error["code"], error["status"], error["status_code"], error["type"], error["error"]];
  const numericStatus = members.map(Number).find((status) => status >= 400 && status <= 599);
  return numericStatus ?? members.map(statusOfWord).find((status) => status !== null) ?? null;
}

function statusOfWord(member: unknown): number | null {
  const word = textOrNull(member)?.toLowerCase() ?? "";
  return Object.hasOwn(STATUS_OF_WORD, word) ? (STATUS_OF_WORD[word] ?? null) : null;
}
