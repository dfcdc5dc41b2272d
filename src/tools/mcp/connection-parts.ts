import type { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { authorizedEgress } from "./authorization/authorized-egress.ts";
import type { TokenSources } from "./authorization/token-sources.ts";
import { DirectCalls } from "./direct-calls.ts";
import type { McpAddress, McpOptions, McpServer } from "./mcp-server.ts";
import {
  type EndableTransport,
  type HttpTransport,
  type McpTransportOptions,
  openTransport,
} from "./open-transport.ts";
import { openProgram } from "./programs/open-program.ts";

export type McpConnectionOptions = Pick<
  McpOptions,
  "egress" | "operatorEgress" | "listTimeoutMs" | "callTimeoutMs" | "version" | "log"
> & {
  readonly caller: string;
  /** Only for connections to URLs. */
  readonly tokens: TokenSources | null;
  /** Limits running programs; only for connections to programs. */
  readonly programPlaces?: Semaphore;
};

type GuardOptions = Pick<McpConnectionOptions, "egress" | "operatorEgress" | "tokens">;

/** A new transport to the address or the program of a server. */
export function serverTransport(
  kind: HttpTransport,
  server: McpServer,
  options: McpConnectionOptions & Pick<McpTransportOptions, "signal" | "onRefused" | "callIds">,
): EndableTransport {
  const { reach } = server;
  if (reach.type === "program") return openProgram(server, reach, options);
  return openTransport(kind, reach, { ...options, egress: serverEgress(server, reach, options) });
}

/**
 * Calls past the client library; null where it is needed. Newer servers require headers that only it can set on each
 * call, and a call during which the server may ask gets more than a result.
 */
export function directCallsTo(
  server: McpServer,
  {
    client,
    transport,
    lifetime,
  }: { readonly client: Client; readonly transport: EndableTransport; readonly lifetime: AbortSignal },
  options: GuardOptions & Pick<McpConnectionOptions, "caller">,
): DirectCalls | null {
  const { reach, asksUser } = server;
  if (reach.type === "program" || !(transport instanceof StreamableHTTPClientTransport)) return null;
  if (client.getProtocolEra() === "modern" || asksUser) return null;
  return new DirectCalls({
    address: reach,
    egress: serverEgress(server, reach, options),
    caller: options.caller,
    transport,
    lifetime,
    tellCancelled: (requestId) =>
      void client.notification({ method: "notifications/cancelled", params: { requestId } }).catch(() => {}),
  });
}

function serverEgress(
  server: McpServer,
  address: McpAddress,
  { egress, operatorEgress, tokens }: GuardOptions,
): McpOptions["egress"] {
  const source = tokens?.sourceOf(server.tokenPlace) ?? null;
  return authorizedEgress(server.isOperators ? operatorEgress : egress, { server, address, tokens: source });
}
