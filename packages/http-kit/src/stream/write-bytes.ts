import { pipeline } from "node:stream/promises";
import { discardBody } from "../body/body-chunks.ts";
import { type Exchange, writeHead } from "../exchange/exchange.ts";
import type { Unread } from "../exchange/unread-bytes.ts";
import type { ByteStream, ReplyHeaders } from "../handler.ts";
import { cancelSource } from "./write-stream.ts";

/**
 * Writes bytes at the client's speed. The headers are sent with the first bytes, so that a source that fails before
 * them gets an ordinary error reply. A later failure breaks the connection, so that no client mistakes a part for the
 * whole.
 */
export async function writeBytes(
  exchange: Exchange,
  status: number,
  headers: ReplyHeaders,
  bytes: ByteStream,
): Promise<void> {
  const { request, response, log, requestId } = exchange;
  const source = bytes.chunks[Symbol.asyncIterator]();
  const length = bytes.size === null ? {} : { "content-length": String(bytes.size) };
  const open = (): void => writeHead(exchange, status, { ...headers, ...length });
  if (response.destroyed) return cancelSource(source, log, requestId);
  if (request.method === "HEAD") {
    cancelSource(source, log, requestId);
    open();
    return void response.end();
  }
  const first = await source.next();
  if (response.destroyed) return cancelSource(source, log, requestId);
  open();
  const unread = exchange.openUnread();
  response.once("close", () => unread.update(0));
  try {
    await pipeline(continuedFrom(first, source, unread), response);
  } catch (error) {
    if (!exchange.signal.aborted) log.error({ err: error, requestId }, "reply of bytes failed");
    return;
  }
  if (!(await discardBody(request))) request.destroy();
}

/** Requests the next piece when the client has read most of the previous ones. */
async function* continuedFrom(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
  unread: Unread,
): AsyncGenerator<Uint8Array> {
  try {
    for (let step = first; step.done !== true; step = await rest.next()) {
      unread.update(step.value.length);
      yield step.value;
    }
  } finally {
    await rest.return?.();
  }
}
