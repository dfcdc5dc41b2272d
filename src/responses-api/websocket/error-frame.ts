import type { WebSocketErrorFrame } from "../../../generated/responses-api/types.ts";
import type { ApiError } from "../../base/api-error.ts";
import { renderError } from "../errors/invalid-request.ts";

/**
 * What a client is told of a frame that was refused: the error of HTTP, with its status and the headers it would have
 * had.
 */
export function errorFrame(fault: ApiError, lane: string | null): WebSocketErrorFrame {
  const { message, type, param, code } = renderError(fault).error;
  const headers = Object.entries(fault.headers).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const hints = headers.length === 0 ? {} : { headers: Object.fromEntries(headers) };
  return {
    type: "error",
    status: fault.status,
    error: { type, code, message, param, ...hints },
    ...(lane === null ? {} : { stream_id: lane }),
  };
}
