import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { discardBody, isBodyPending } from "../body/body-chunks.ts";
import type { ReplyHeaders } from "../handler.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Unread } from "./unread-bytes.ts";

/** What is written at once. Of a longer content it is seen piece by piece that its reader takes it. */
const PIECE_BYTES = 256 * 1024;

export function writeHead(exchange: Exchange, status: number, headers: ReplyHeaders): void {
  exchange.response.writeHead(status, { ...exchange.standingHeaders(), ...headers });
}

/**
 * Writes a reply that is known as a whole. While bytes of the request are still coming, the connection is kept until
 * they are read or too many, so that a client that sends before it reads gets the reply rather than a reset.
 */
export async function writeWhole(
  exchange: Exchange,
  status: number,
  headers: ReplyHeaders,
  content: Uint8Array | null,
): Promise<void> {
  const { request, response } = exchange;
  if (response.destroyed) return;
  const size = content?.length ?? 0;
  const length = content === null ? {} : { "content-length": String(size) };
  writeHead(exchange, status, { ...headers, ...length });
  const unread = exchange.openUnread();
  response.once("close", () => unread.update(0));
  if (!isBodyPending(request) && size <= PIECE_BYTES) {
    response.end(content ?? undefined);
    if (size > 0) unread.update(size);
    return;
  }
  if (content === null) response.flushHeaders();
  else await writePieces(response, content, unread);
  const isRead = await discardBody(request);
  response.end(() => {
    if (!isRead) request.destroy();
  });
}

/** All of the bytes stay in memory until the last of them is taken. */
async function writePieces(response: ServerResponse, bytes: Uint8Array, unread: Unread): Promise<void> {
  for (let start = 0; start < bytes.length && !response.destroyed; start += PIECE_BYTES) {
    unread.update(bytes.length);
    if (!response.write(bytes.subarray(start, start + PIECE_BYTES))) await roomIn(response);
  }
}

/** Resolves when more can be written, or nothing any more. */
async function roomIn(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const done = new AbortController();
  const { signal } = done;
  await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]).catch(() => null);
  done.abort();
}
