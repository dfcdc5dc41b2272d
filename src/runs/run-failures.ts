import type { ResponseErrorInfo } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { RunFailure, RunSignal } from "./run-state.ts";

/** The maximum characters of one answer, over all its items. The answer is in memory until it ends. */
export const ANSWER_CHARACTERS_MAX = 16 * 1024 * 1024;

/** The failure of a run whose model server failed. */
export function modelFailure({ type, code, message, param }: ModelError): RunFailure {
  return { type, code: code ?? type, message, param, responseCode: responseErrorCode(code) };
}

export const INTERNAL_FAILURE = serverFailure(
  "An error occurred while processing your request. You can retry your request.",
);

export const UNFINISHED_FAILURE = serverFailure("The model stopped before it finished its answer.");

export const TOO_LONG_FAILURE = serverFailure(
  `The answer is longer than ${ANSWER_CHARACTERS_MAX} characters, which is this server's limit.`,
);

export const STORAGE_FAILURE = serverFailure("The response could not be stored. You can retry your request.");

/** The process that made the response died after showing a part of the answer. */
export const INTERRUPTED_FAILURE = serverFailure(
  "The server was interrupted while it made this response. You can retry your request.",
);

/** The process died each time in the same step, so that this step is probably the cause. */
export const POISONED_FAILURE = serverFailure(
  "The server stopped several times while it made the same step of this response, so it is not tried again.",
);

/** The response was stored by a version of this server that this version cannot continue from. */
export const OUTDATED_FAILURE = serverFailure(
  "The response was begun by another version of this server, and this version cannot continue it. You can retry your request.",
);

export function timeoutFailure(runMs: number): RunFailure {
  return serverFailure(
    `The response took longer than ${Math.round(runMs / 1000)} seconds, which is this server's limit.`,
  );
}

function serverFailure(message: string): RunFailure {
  return { type: "server_error", code: "server_error", message, param: null, responseCode: "server_error" };
}

type Code = ResponseErrorInfo["code"];

/** The codes of failed responses. The compiler compares the list with the contract. */
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

/** The code if it is in the list, or the list's equivalent, otherwise `server_error`. */
function responseErrorCode(code: string | null): Code {
  if (code === "approval_spent") return "invalid_prompt";
  return code !== null && isListed(code) ? code : "server_error";
}

function isListed(code: string): code is Code {
  return Object.hasOwn(CODES, code);
}

/** The abort reason of a run's signal: why the run is stopped from outside. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";
  /** The signal that ends the run; null if another worker continues it. */
  readonly signal: RunSignal | null;

  private constructor(message: string, signal: RunSignal | null) {
    super(message);
    this.signal = signal;
  }

  static forCancel(): RunStopped {
    return new RunStopped("the response was cancelled", { type: "cancelled" });
  }

  static timedOut(runMs: number): RunStopped {
    return new RunStopped("the response took too long", { type: "model_failed", failure: timeoutFailure(runMs) });
  }

  static unstorable(): RunStopped {
    return new RunStopped("the response cannot be stored", { type: "model_failed", failure: STORAGE_FAILURE });
  }

  static forRelease(): RunStopped {
    return new RunStopped("the response is left to another worker", null);
  }
}
