import type { ResponseErrorInfo } from "../../generated/responses-api/types.ts";

type Code = ResponseErrorInfo["code"];

/** The closed list of codes that a failed response may show; the compiler holds it to the contract. */
const CODES: Readonly<Record<Code, true>> = {
  server_error: true,
  rate_limit_exceeded: true,
  invalid_prompt: true,
  data_residency_mismatch: true,
  bio_policy: true,
  misalignment_policy_violation: true,
  vector_store_timeout: true,
  invalid_image: true,
  invalid_image_format: true,
  invalid_base64_image: true,
  invalid_image_url: true,
  image_too_large: true,
  image_too_small: true,
  image_parse_error: true,
  image_content_policy_violation: true,
  invalid_image_mode: true,
  image_file_too_large: true,
  unsupported_image_media_type: true,
  empty_image_file: true,
  failed_to_download_image: true,
  image_file_not_found: true,
  insufficient_quota: true,
  context_length_exceeded: true,
  usage_not_included: true,
  server_is_overloaded: true,
};

/** The code itself if the list has it, else `server_error`. */
export function responseErrorCode(code: string | null): Code {
  return code !== null && isListed(code) ? code : "server_error";
}

function isListed(code: string): code is Code {
  return Object.hasOwn(CODES, code);
}
