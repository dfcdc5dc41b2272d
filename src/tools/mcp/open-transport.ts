import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import type { Egress } from "../../egress/egress.ts";
import type { McpAddress } from "./mcp-server.ts";

/** Most bytes of one reply. Over SSE all replies of a connection are one. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024;
const METHOD_NOT_ALLOWED = 405;

/** The two transports of MCP over HTTP. `sse` is the older one. */
export type HttpTransport = "streamable" | "sse";

/** A transport that may have a session to end. */
export type EndableTransport = Transport & { terminateSession?: () => Promise<void> };

export interface McpTransportOptions {
  readonly egress: Pick<Egress, "openGuarded">;
  /** For whom the calls are made; look-ups are shared fairly. */
  readonly caller: string;
  /** Ends all requests. */
  readonly signal: AbortSignal;
  /** Called with the status of each reply that is an error. */
  readonly onRefused: (status: number) => void;
}

/** A transport whose requests all pass the guard and carry the headers of the server. */
export function openTransport(
  kind: HttpTransport,
  address: McpAddress,
  options: McpTransportOptions,
): EndableTransport {
  const url = new URL(address.url);
  const fetch = guardedFetch(kind, address, options);
  return kind === "sse" ? new SSEClientTransport(url, { fetch }) : new StreamableHTTPClientTransport(url, { fetch });
}

function guardedFetch(kind: HttpTransport, address: McpAddress, options: McpTransportOptions) {
  const { origin } = new URL(address.url);
  return async (target: string | URL, init: RequestInit = {}): Promise<Response> => {
    const method = init.method ?? "GET";
    const headers = new Headers(init.headers);
    // A stream of the server's own messages: no use for it here. One that goes on where a reply broke off is opened.
    if (kind === "streamable" && method === "GET" && !headers.has("last-event-id"))
      return new Response(null, { status: METHOD_NOT_ALLOWED });
    if (new URL(target).origin === origin)
      for (const [name, value] of Object.entries(address.headers)) if (!headers.has(name)) headers.set(name, value);
    const reply = await options.egress.openGuarded(String(target), {
      method,
      headers,
      body: typeof init.body === "string" ? init.body : null,
      bytesMax: REPLY_BYTES_MAX,
      signal: init.signal == null ? options.signal : AbortSignal.any([options.signal, init.signal]),
      caller: options.caller,
    });
    if (!reply.ok) options.onRefused(reply.status);
    return reply;
  };
}
