import { AntiphonError } from "../http/errors.ts";
import { trustReply } from "../http/trust-reply.ts";
import { isBrowser } from "../platform.ts";
import type { Socket } from "./socket-inbox.ts";

/** The HTTP reply to a refused upgrade, as the package ws reports it. */
export interface UpgradeReply {
  readonly statusCode?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A WebSocket that may report why its upgrade was refused, as those of the package ws do. */
export interface KeyedSocket extends Socket {
  on?(event: "unexpected-response", listener: (request: unknown, reply: UpgradeReply) => void): unknown;
}

/** Opens a WebSocket and sends the headers with its upgrade request. */
export type OpenKeyedSocket = (url: string, headers: Readonly<Record<string, string>>) => KeyedSocket;

/** Opens the platform's WebSocket. Throws an `AntiphonError` on platforms whose WebSocket cannot send headers. */
export function platformSocket(): OpenKeyedSocket {
  if (isBrowser())
    throw new AntiphonError("Browsers cannot send x-api-key with a WebSocket. Open the cloud stream on a server.");
  if (!("WebSocket" in globalThis))
    throw new AntiphonError(
      "There is no global WebSocket: Node has one since version 22. Pass the option openSocket, for instance with the package ws.",
    );
  // The DOM's type has no headers, but Node's WebSocket takes them.
  return (url, headers) => trustReply<KeyedSocket>(Reflect.construct(WebSocket, [url, { headers }]));
}

/** Returns a function that gives the reply by which the upgrade was refused, if the socket reports it. */
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
