import type { Readable } from "node:stream";
import { Agent } from "undici";
import { pinnedLookup } from "./address-pool.ts";
import { EgressError } from "./egress-error.ts";
import type { ResolvedAddress } from "./find-route.ts";

const HEADER_BYTES_MAX = 32 * 1024;
const USER_AGENT = "antiphon";

/** Time limits of one request, in milliseconds. */
export interface AskTimeouts {
  /** Limit for the connection to be established. */
  readonly connectMs: number;
  /** Limit without a byte, before and within the reply. */
  readonly idleMs: number;
}

/** A reply whose body is still arriving. The caller must close it. */
export interface OneReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readable;
  /** Closes the connection, even if the body is incomplete. */
  close(): Promise<void>;
}

/**
 * Sends one GET over a new connection. Connects only to `addresses`, even if the host name resolves to others by now.
 * Ignores the environment's proxies and follows no redirect. Rejects with `EgressError`.
 */
export async function askOnce(
  url: URL,
  addresses: readonly ResolvedAddress[],
  timeouts: AskTimeouts,
  signal: AbortSignal,
): Promise<OneReply> {
  const agent = new Agent({
    connections: 1,
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: timeouts.idleMs,
    bodyTimeout: timeouts.idleMs,
    connect: { timeout: timeouts.connectMs, lookup: pinnedLookup(addresses) },
  });
  const close = (): Promise<void> => agent.destroy();
  try {
    const reply = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "GET",
      headers: { "user-agent": USER_AGENT, accept: "*/*", "accept-encoding": "identity" },
      signal,
    });
    return { status: reply.statusCode, headers: reply.headers, body: reply.body, close };
  } catch (error) {
    await close();
    throw explainFailure(error);
  }
}

/** Translates errors of undici and Node to messages that reveal no address. */
export function explainFailure(error: unknown): EgressError {
  if (error instanceof EgressError) return error;
  const code = codeOf(error);
  if (/TIMEOUT|ETIMEDOUT/.test(code))
    return new EgressError("timeout", "The remote server did not answer in time", error);
  if (/CERT|TLS|SSL/.test(code))
    return new EgressError("unreachable", "The certificate of the remote server is not trusted", error);
  if (code === "UND_ERR_HEADERS_OVERFLOW") return new EgressError("too_large", "The reply has too many headers", error);
  return new EgressError("unreachable", "The remote server could not be reached, or the connection broke", error);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error instanceof AggregateError) return error.errors.map(codeOf).find((code) => code !== "") ?? "";
  return codeOf(error.cause);
}
