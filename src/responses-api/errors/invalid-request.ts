import { ApiError } from "@antiphon/base/api-error.ts";

export const INVALID = "invalid_request_error";

/** Longer messages and parameter paths are cut, because they may repeat long texts of the caller. */
const MESSAGE_CHARACTERS_MAX = 2000;
const PARAM_CHARACTERS_MAX = 500;

/**
 * An error in the caller's request. `code` is the reference's code, or null if it has none; `renderError` then uses the
 * type as the code.
 */
export function invalidRequest(status: number, code: string | null, param: string | null, message: string): ApiError {
  return new ApiError({
    status,
    type: INVALID,
    code,
    param: param === null ? null : shortenText(param, PARAM_CHARACTERS_MAX),
    message: shortenText(message, MESSAGE_CHARACTERS_MAX),
  });
}

function shortenText(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;
}

/** `{error: {message, type, param, code}}`, in the reference's order of keys. */
export function renderError(error: ApiError): {
  error: { message: string; type: string; param: string | null; code: string };
} {
  return { error: { message: error.message, type: error.type, param: error.param, code: error.code ?? error.type } };
}
