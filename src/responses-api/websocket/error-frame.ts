import type { ApiError } from "@antiphon/base/api-error.ts";
import type { WebSocketErrorFrame } from "@antiphon/contracts/responses-api/types.ts";
import { renderError } from "../errors/invalid-request.ts";

/** The frame that refuses a client's frame: the error, status and headers of the matching HTTP reply. */
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
