import type { ModelError } from "./ports.ts";
import { responseErrorCode } from "./response-error-code.ts";
import type { RunFailure } from "./run-state.ts";

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
