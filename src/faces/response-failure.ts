import { ApiError } from "@antiphon/base/api-error.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";

/** HTTP statuses of failures that are not the server's. */
const STATUSES: Readonly<Record<string, number>> = { rate_limit_exceeded: 429, invalid_prompt: 400 };
const SERVER_FAULT = 500;

/** The error of a response that failed. Chat completions have no status of their own for it. */
export function responseFailure({ error, status }: Pick<Response, "error" | "status">): ApiError {
  const code = error?.code ?? "server_error";
  const httpStatus = STATUSES[code] ?? SERVER_FAULT;
  return new ApiError({
    status: httpStatus,
    type:
      httpStatus >= SERVER_FAULT ? "server_error" : httpStatus === 429 ? "rate_limit_error" : "invalid_request_error",
    code,
    message: error?.message ?? `The response is ${status}.`,
  });
}
