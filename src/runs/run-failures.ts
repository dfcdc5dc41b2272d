import type { ResponseErrorInfo } from "../../generated/responses-api/types.ts";
import type { ModelError } from "./ports.ts";
import type { RunFailure, RunSignal } from "./run-state.ts";

/** How much one answer may say, all of its items together; it is held in memory until it ends. */
export const ANSWER_CHARACTERS_MAX = 16 * 1024 * 1024;

/** What the model server said. */
export function modelFailure({ type, code, message, param }: ModelError): RunFailure {
  return { type, code: code ?? type, message, param, responseCode: responseErrorCode(code) };
}

export const INTERNAL_FAILURE = serverFailure(
  "An error occurred while processing your request. You can retry your request.",
);

export const UNFINISHED_FAILURE = serverFailure("The model stopped before it finished its answer.");

export const TOO_LONG_FAILURE = serverFailure(
  `The answer is longer than ${ANSWER_CHARACTERS_MAX} characters, which is more than this server holds.`,
);

export const STORAGE_FAILURE = serverFailure("The response could not be stored. You can retry your request.");

/** The process that made the response died, and what it had shown cannot be taken back. */
export const INTERRUPTED_FAILURE = serverFailure(
  "The server was interrupted while it made this response. You can retry your request.",
);

/** What is stored of the response was written by a version of this server that this one cannot go on from. */
export const OUTDATED_FAILURE = serverFailure(
  "The response was begun by another version of this server, and this version cannot continue it. You can retry your request.",
);

export function timeoutFailure(runMs: number): RunFailure {
  return serverFailure(
    `The response took longer than ${Math.round(runMs / 1000)} seconds, which is as long as this server lets one take.`,
  );
}

function serverFailure(message: string): RunFailure {
  return { type: "server_error", code: "server_error", message, param: null, responseCode: "server_error" };
}

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
function responseErrorCode(code: string | null): Code {
  return code !== null && isListed(code) ? code : "server_error";
}

function isListed(code: string): code is Code {
  return Object.hasOwn(CODES, code);
}

/** Why a run is stopped from outside: the reason with which its signal aborts. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";
  /** How the run ends; null: not here, another worker takes it up. */
  readonly signal: RunSignal | null;

  private constructor(message: string, signal: RunSignal | null) {
    super(message);
    this.signal = signal;
  }

  static cancelled(): RunStopped {
    return new RunStopped("the response was cancelled", { type: "cancelled" });
  }

  static timedOut(runMs: number): RunStopped {
    return new RunStopped("the response took too long", { type: "model_failed", failure: timeoutFailure(runMs) });
  }

  static released(): RunStopped {
    return new RunStopped("the response is left to another worker", null);
  }
}
