import { pipeline } from "node:stream/promises";
import { discardBody } from "../body/body-chunks.ts";
import type { ByteStream, ReplyHeaders } from "../handler.ts";
import { type Exchange, writeHead } from "../http/exchange.ts";
import type { Unread } from "./unread-bytes.ts";
import { cancelSource } from "./write-stream.ts";

/**
 * Writes bytes as their source gives them and the client takes them. The head goes out with the first of them, so that
 * a source that fails before can still be answered plainly; one that fails later breaks the connection, for no client
 * may take a part for the whole.
 */
export async function writeBytes(
  exchange: Exchange,
  status: number,
  headers: ReplyHeaders,
  bytes: ByteStream,
): Promise<void> {
  const { request, response, log, requestId } = exchange;
  const source = bytes.chunks[Symbol.asyncIterator]();
  const open = (): void => writeHead(exchange, status, { ...headers, "content-length": String(bytes.size) });
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
    await pipeline(beginningWith(first, source, unread), response);
  } catch (error) {
    if (!exchange.signal.aborted) log.error({ err: error, requestId }, "a reply of bytes broke");
    return;
  }
  if (!(await discardBody(request))) request.destroy();
}

/** Each piece but the first is asked for when the client has taken most of what was there before. */
async function* beginningWith(
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
