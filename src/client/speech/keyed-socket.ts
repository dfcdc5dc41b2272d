import { AntiphonError } from "../http/errors.ts";
import { trustReply } from "../http/trust-reply.ts";
import { isBrowser } from "../platform.ts";
import type { Socket } from "./socket-inbox.ts";

/** The reply to an upgrade that was refused, as the package ws tells of it. */
export interface UpgradeReply {
  readonly statusCode?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A socket that may tell why it was refused, as those of ws do. */
export interface KeyedSocket extends Socket {
  on?(event: "unexpected-response", listener: (request: unknown, reply: UpgradeReply) => void): unknown;
}

/** Opens a WebSocket whose upgrade carries the headers. */
export type OpenKeyedSocket = (url: string, headers: Readonly<Record<string, string>>) => KeyedSocket;

/** The platform's own socket. Throws `AntiphonError` where it cannot send headers. */
export function platformSocket(): OpenKeyedSocket {
  if (isBrowser())
    throw new AntiphonError("Browsers cannot send x-api-key with a WebSocket. Open the cloud stream on a server.");
  if (!("WebSocket" in globalThis))
    throw new AntiphonError(
      "There is no global WebSocket: Node has one from version 22 on. Pass openSocket, for instance with the package ws.",
    );
  // The DOM's type knows no headers.
  return (url, headers) => trustReply<KeyedSocket>(Reflect.construct(WebSocket, [url, { headers }]));
}

/** Notes the reply by which the upgrade is refused, where the socket tells. */
export function watchRefusal(socket: KeyedSocket): () => Response | null {
  let refusal: Response | null = null;
  socket.on?.("unexpected-response", (_request, reply) => {
    const { statusCode = 0, statusMessage: statusText = "" } = reply;
    const headers = Object.entries(reply.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    if (statusCode >= 300) refusal = new Response(null, { status: statusCode, statusText, headers });
    socket.close();
  });
  return () => refusal;
}
