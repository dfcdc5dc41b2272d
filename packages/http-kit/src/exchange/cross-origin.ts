import type { TransportOptions } from "../options.ts";
import type { RequestHead } from "../request-head.ts";

type CrossOrigin = Pick<TransportOptions, "allowsOrigin">;

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** How long a browser may reuse the answer to a preflight. */
const PREFLIGHT_SECONDS = "600";

/** The headers that let a page of an allowed origin read a reply; none for other callers. */
export function crossOriginHeaders(origin: string | undefined, { allowsOrigin }: CrossOrigin): Record<string, string> {
  if (origin === undefined || !allowsOrigin(origin)) return {};
  return { "access-control-allow-origin": origin, "access-control-expose-headers": "*", vary: "origin" };
}

/** Whether a request is a CORS preflight for a page of an allowed origin. */
export function isPreflight({ method, headers }: RequestHead, { allowsOrigin }: CrossOrigin): boolean {
  if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return false;
  return headers.origin !== undefined && allowsOrigin(headers.origin);
}

/** The headers that answer a preflight. Any header may be sent; the request itself is checked when it arrives. */
export function preflightHeaders({ headers }: RequestHead): Record<string, string> {
  const requestedHeaders = headers["access-control-request-headers"];
  return {
    "access-control-allow-methods": METHODS,
    "access-control-max-age": PREFLIGHT_SECONDS,
    ...(requestedHeaders === undefined ? {} : { "access-control-allow-headers": requestedHeaders }),
  };
}
