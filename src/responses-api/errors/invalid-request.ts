import { ApiError } from "../../base/api-error.ts";

export const INVALID = "invalid_request_error";

/** How much of a caller's own words an error repeats. */
const MESSAGE_CHARACTERS_MAX = 2000;
const PARAM_CHARACTERS_MAX = 500;

/**
 * An error of the caller's request. `code` is the reference's specific code, null where it has none; `renderError` then
 * repeats the type.
 */
export function invalidRequest(status: number, code: string | null, param: string | null, message: string): ApiError {
  return new ApiError({
    status,
    type: INVALID,
    code,
    param: param === null ? null : shortened(param, PARAM_CHARACTERS_MAX),
    message: shortened(message, MESSAGE_CHARACTERS_MAX),
  });
}

function shortened(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;
}

/** `{error: {message, type, param, code}}`, in the reference's order of keys. */
export function renderError(error: ApiError): {
  error: { message: string; type: string; param: string | null; code: string };
} {
  return { error: { message: error.message, type: error.type, param: error.param, code: error.code ?? error.type } };
}
