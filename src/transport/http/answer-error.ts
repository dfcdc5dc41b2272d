import type { ApiError } from "../../base/api-error.ts";
import { isStorageFull } from "../../base/storage-full.ts";
import { type Faults, namedFault } from "../faults.ts";
import type { ServedInterface } from "../options.ts";
import { writeJsonReply } from "../stream/write-reply.ts";
import type { Exchange } from "./exchange.ts";

/** After these the connection is no good: the client is still sending what nobody wants, or sends nothing. */
const CLOSING_STATUSES: ReadonlySet<number> = new Set([408, 413]);

/** Renders what was thrown: an `ApiError` as it says, anything else as a fault of ours, with all of it in the log. */
export async function answerError(
  exchange: Exchange,
  error: unknown,
  { faults, options }: ServedInterface,
): Promise<void> {
  const { response } = exchange;
  if (response.destroyed || exchange.request.errored !== null) return logUnheard(exchange, error);
  if (response.headersSent) {
    exchange.log.error({ err: error, requestId: exchange.requestId }, "a reply broke after its head was sent");
    response.destroy(); // Cut short, so that the client cannot take it for complete.
    return;
  }
  const fault = apiError(exchange, error, faults);
  const closing = CLOSING_STATUSES.has(fault.status) ? { connection: "close" } : {};
  const headers = { ...closing, ...fault.headers };
  await writeJsonReply(
    exchange,
    { status: fault.status, headers, body: faults.renderError(fault) },
    options.prettyJson,
  );
}

function apiError(exchange: Exchange, error: unknown, faults: Faults): ApiError {
  const named = namedFault(error, faults);
  if (named !== null) {
    if (isStorageFull(error)) exchange.log.error(faultFields(exchange, error), "nothing more can be stored");
    else if (named.status >= 500) exchange.log.warn(faultFields(exchange, error), "a request was refused");
    return named;
  }
  if (exchange.signal.aborted) return faults.shuttingDown();
  exchange.log.error(faultFields(exchange, error), "a request failed");
  return faults.internalError(exchange.requestId);
}

function faultFields(exchange: Exchange, error: unknown): object {
  return { err: error, requestId: exchange.requestId, operationId: exchange.operationId };
}

function logUnheard(exchange: Exchange, error: unknown): void {
  exchange.log.debug({ err: error, requestId: exchange.requestId }, "a request failed after its client had left");
}
