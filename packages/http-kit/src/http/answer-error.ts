import type { ApiError } from "@antiphon/base/api-error.ts";
import { isStorageFull } from "@antiphon/base/storage-full.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { errorReply, type Faults, namedFault } from "../faults.ts";
import type { ServedInterface } from "../options.ts";
import { writeJsonReply } from "../stream/write-reply.ts";

/** After these, the connection is closed: the client is still sending an unwanted body, or has stopped sending. */
const CLOSING_STATUSES: ReadonlySet<number> = new Set([408, 413]);

/**
 * Answers a thrown error: an `ApiError` as itself, any other error as an internal error whose details go to the log
 * only.
 */
export async function answerError(
  exchange: Exchange,
  error: unknown,
  { faults, options }: ServedInterface,
): Promise<void> {
  const { response } = exchange;
  if (response.destroyed || exchange.request.errored !== null) return logUnanswered(exchange, error);
  if (response.headersSent) {
    exchange.log.error({ err: error, requestId: exchange.requestId }, "reply failed after its headers were sent");
    response.destroy(); // Breaks the connection, so that the client sees the reply is incomplete.
    return;
  }
  const fault = apiError(exchange, error, faults);
  const closing = CLOSING_STATUSES.has(fault.status) ? { connection: "close" } : {};
  const reply = errorReply(fault, exchange, faults);
  await writeJsonReply(exchange, { ...reply, headers: { ...closing, ...reply.headers } }, options.prettyJson);
}

function apiError(exchange: Exchange, error: unknown, faults: Faults): ApiError {
  const match = namedFault(error, faults);
  if (match !== null) {
    if (isStorageFull(error)) exchange.log.error(faultFields(exchange, error), "no more room to store anything");
    else if (match.status >= 500) exchange.fault = match;
    return match;
  }
  if (exchange.signal.aborted) return faults.shuttingDown();
  exchange.log.error(faultFields(exchange, error), "request failed");
  return faults.internalError(exchange.requestId);
}

function faultFields(exchange: Exchange, error: unknown): object {
  return { err: error, requestId: exchange.requestId, operationId: exchange.operationId };
}

function logUnanswered(exchange: Exchange, error: unknown): void {
  exchange.log.debug({ err: error, requestId: exchange.requestId }, "request failed after its client had left");
}
