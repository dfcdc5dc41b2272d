import { pipeline } from "node:stream/promises";
import { discardBody } from "./body-chunks.ts";
import type { Exchange } from "./exchange.ts";
import type { ByteStream, ReplyHeaders } from "./handler.ts";
import { letGo } from "./let-go.ts";
import { writeHead } from "./write-whole.ts";

/** How long a client may take for one piece before it is taken to have left. */
const PIECE_TAKEN_MS_MAX = 5 * 60_000;

/**
 * Writes bytes as their source gives them and the client takes them. The head goes out with the first of them, so that a source that fails
 * before can still be answered plainly; one that fails later breaks the connection, for no client may take a part for the whole.
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
  if (response.destroyed) return letGo(source, log, requestId);
  if (request.method === "HEAD") {
    letGo(source, log, requestId);
    open();
    return void response.end();
  }
  const first = await source.next();
  if (response.destroyed) return letGo(source, log, requestId);
  open();
  try {
    await pipeline(
      beginningWith(first, source, () => response.destroy()),
      response,
    );
  } catch (error) {
    if (!exchange.signal.aborted) log.error({ err: error, requestId }, "a reply of bytes broke");
    return;
  }
  if (!(await discardBody(request))) request.destroy();
}

async function* beginningWith<T>(
  first: IteratorResult<T>,
  rest: AsyncIterator<T>,
  giveUp: () => void,
): AsyncGenerator<T> {
  try {
    for (let step = first; step.done !== true; step = await rest.next()) {
      const timer = setTimeout(giveUp, PIECE_TAKEN_MS_MAX);
      try {
        yield step.value;
      } finally {
        clearTimeout(timer);
      }
    }
  } finally {
    await rest.return?.();
  }
}
