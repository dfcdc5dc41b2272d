import type { ClientRequest, ClientSend, RequestOptions } from "@antiphon/contracts/responses-api/client.ts";
import { CallWatch } from "./call-watch.ts";
import type { Connection } from "./connection.ts";
import { AntiphonError, APIConnectionError } from "./errors.ts";
import { readError } from "./read-error.ts";
import { type ExpectedReply, readReply } from "./read-reply.ts";
import { ReplyStream } from "./reply-stream.ts";
import { withRetries } from "./retry.ts";
import { trustReply } from "./trust-reply.ts";
import { type WrittenRequest, writeRequest } from "./write-request.ts";

/** Sends the requests of the generated clients. Transient failures are retried, but never once a stream has begun. */
export function createSend(connection: Connection): ClientSend {
  return async <Reply>(request: ClientRequest, options: RequestOptions = {}): Promise<Reply> => {
    const httpRequest = writeRequest(connection, request, options);
    const limits = { signal: options.signal, timeoutMs: options.timeoutMs ?? connection.timeoutMs };
    const { errorEvents = "throw" } = options;
    const tryOnce = () => exchange({ connection, request, httpRequest, errorEvents, watch: new CallWatch(limits) });
    const retriesMax = httpRequest.isRepeatable ? (options.retriesMax ?? connection.retriesMax) : 0;
    return trustReply(await withRetries(tryOnce, { retriesMax, signal: options.signal }));
  };
}

interface Exchange {
  readonly connection: Connection;
  readonly request: ClientRequest;
  readonly httpRequest: WrittenRequest;
  readonly errorEvents: ExpectedReply["errorEvents"];
  readonly watch: CallWatch;
}

/** One attempt. A stream keeps its watch; for every other reply, the call is over when this resolves. */
async function exchange({ connection, request, httpRequest, errorEvents, watch }: Exchange): Promise<unknown> {
  try {
    watch.signal.throwIfAborted();
    watch.expectServer();
    const response = await connection.fetch(httpRequest.url, httpRequest.toInit(watch));
    if (!response.ok) throw await readError(response);
    const reply = await readReply(response, { accept: request.accept, errorEvents }, watch);
    if (reply instanceof ReplyStream) watch.stopExpecting();
    else watch.release();
    return reply;
  } catch (error) {
    const reason = watch.signal.aborted ? watch.signal.reason : asFailure(error, connection.baseUrl);
    watch.end(reason);
    throw reason;
  }
}

function asFailure(cause: unknown, baseUrl: string): Error {
  if (cause instanceof AntiphonError) return cause;
  return new APIConnectionError(`The connection to ${baseUrl} failed.`, { cause });
}
