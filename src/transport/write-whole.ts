import { discardBody, isBodyPending } from "./body-chunks.ts";
import type { Exchange } from "./exchange.ts";
import type { ReplyHeaders } from "./handler.ts";

export function writeHead(exchange: Exchange, status: number, headers: ReplyHeaders): void {
  exchange.response.writeHead(status, { ...exchange.standingHeaders(), ...headers });
}

/**
 * Writes a reply that is known as a whole. While bytes of the request are still coming, the connection is kept until they are read or too
 * many, so that a client that sends before it reads gets the reply rather than a reset.
 */
export async function writeWhole(
  exchange: Exchange,
  status: number,
  headers: ReplyHeaders,
  content: string | Uint8Array | null,
): Promise<void> {
  const { request, response } = exchange;
  if (response.destroyed) return;
  const length = content === null ? {} : { "content-length": String(Buffer.byteLength(content)) };
  writeHead(exchange, status, { ...headers, ...length });
  if (!isBodyPending(request)) {
    response.end(content ?? undefined);
    return;
  }
  if (content === null) response.flushHeaders();
  else response.write(content);
  const isRead = await discardBody(request);
  response.end(() => {
    if (!isRead) request.destroy();
  });
}
