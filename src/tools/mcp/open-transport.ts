import { AsyncLocalStorage } from "node:async_hooks";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import type { BegunReply, CallIds } from "./call-ids.ts";
import { type Delivery, deliveryAt } from "./mcp-failure.ts";
import type { McpAddress } from "./mcp-server.ts";

/** The maximum bytes of one reply. With SSE, all replies of a connection are one. */
export const REPLY_BYTES_MAX = 16 * 1024 * 1024;
const METHOD_NOT_ALLOWED = 405;
/** A message that cancels a request. It is sent after the request was abandoned, within this time limit. */
const CANCELLED = '{"jsonrpc":"2.0","method":"notifications/cancelled"';
const CANCELLED_MS = 5000;
/** The header with the key of a call. */
export const KEY_HEADER = "idempotency-key";
/** The method of a message that calls a tool. */
const CALL = "tools/call";

/** The two MCP transports over HTTP. `sse` is the older one. */
export type HttpTransport = "streamable" | "sse";

/** A transport that may have a session to end. */
export type EndableTransport = Transport & { terminateSession?: () => Promise<void> };

export interface McpTransportOptions {
  readonly egress: Pick<Egress, "openGuarded">;
  /** The caller, for fair sharing of name lookups. */
  readonly caller: string;
  /** Aborting ends all requests. */
  readonly signal: AbortSignal;
  /** Called with the status of each error reply that belongs to no `Use`. */
  readonly onRefused: (status: number) => void;
  readonly callIds: CallIds;
}

/** One request of a response. The transport may make several calls for it. */
export interface Use {
  /** Each of them ends its calls. */
  readonly signals: readonly AbortSignal[];
  /** The status of the last error reply; null if there was none. */
  refusedWith: number | null;
  /** How far a tool call got. */
  delivery: Delivery;
  /** The begun reply to the first message, which was sent directly; null once it is taken. */
  beginning: BegunReply | null;
  /** Sent as a header with the message that calls a tool; null for none. */
  readonly key: string | null;
}

const USES = new AsyncLocalStorage<Use>();

/** Assigns all transport calls made by this work to `use`. */
export async function withinUse<T>(use: Use, work: () => Promise<T>): Promise<T> {
  return await USES.run(use, work);
}

/** Records in its `Use` that a message is sent to the server. */
export function noteSent(message: unknown): void {
  noteDelivery(USES.getStore(), message, "sent");
}

function noteDelivery(use: Use | undefined, message: unknown, delivery: Delivery): void {
  if (use !== undefined && isRecord(message) && message["method"] === CALL) use.delivery = delivery;
}

/** A transport whose requests all pass the guard and carry the server's headers. */
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
    const use = USES.getStore();
    const body = typeof init.body === "string" ? options.callIds.writeBody(init.body) : null;
    const message = use === undefined || body === null ? undefined : jsonOrUndefined(body);
    const response = use === undefined ? null : takeBegun(use, message, options.callIds);
    if (response !== null) return response;
    const method = init.method ?? "GET";
    const headers = new Headers(init.headers);
    addKey(headers, use, message);
    // A stream of the server's own messages is not needed. A stream that resumes a broken reply is opened.
    if (kind === "streamable" && method === "GET" && !headers.has("last-event-id"))
      return new Response(null, { status: METHOD_NOT_ALLOWED });
    if (new URL(target).origin === origin)
      for (const [name, value] of Object.entries(address.headers)) if (!headers.has(name)) headers.set(name, value);
    const reply = await options.egress.openGuarded(String(target), {
      kind: "mcp",
      method,
      headers,
      body,
      bytesMax: REPLY_BYTES_MAX,
      signal: AbortSignal.any([options.signal, init.signal ?? [], limitsOf(body, use)].flat()),
      caller: options.caller,
      onSent: () => noteDelivery(use, message, "sent"),
    });
    noteDelivery(use, message, deliveryAt(reply.status));
    if (!reply.ok && use === undefined) options.onRefused(reply.status);
    if (!reply.ok && use !== undefined) use.refusedWith = reply.status;
    return reply;
  };
}

/** Adds the key of a call to the headers of its message. */
function addKey(headers: Headers, use: Use | undefined, message: unknown): void {
  const key = use?.key ?? null;
  if (key !== null && isRecord(message) && message["method"] === CALL) headers.set(KEY_HEADER, key);
}

function takeBegun(use: Use, message: unknown, callIds: CallIds): Response | null {
  const { beginning } = use;
  if (beginning === null || !isRecord(message) || typeof message["id"] !== "number") return null;
  use.beginning = null;
  callIds.add(beginning.id, message["id"]);
  if (beginning.reply.status >= 400) use.refusedWith = beginning.reply.status;
  return beginning.reply.response();
}

function limitsOf(body: string | null, use: Use | undefined): readonly AbortSignal[] {
  return body?.startsWith(CANCELLED) === true ? [AbortSignal.timeout(CANCELLED_MS)] : (use?.signals ?? []);
}
