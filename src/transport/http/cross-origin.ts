import type { TransportOptions } from "../options.ts";
import type { RequestHead } from "../request-head.ts";

type CrossOrigin = Pick<TransportOptions, "allowsOrigin">;

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** How long a browser need not ask again. */
const PREFLIGHT_SECONDS = "600";

/** What a browser needs to see before a page of another origin may read a reply; nothing for everyone else. */
export function crossOriginHeaders(origin: string | undefined, { allowsOrigin }: CrossOrigin): Record<string, string> {
  if (origin === undefined || !allowsOrigin(origin)) return {};
  return { "access-control-allow-origin": origin, "access-control-expose-headers": "*", vary: "origin" };
}

/** Whether a browser asks, on behalf of a page that may, what it may send. */
export function isPreflight({ method, headers }: RequestHead, { allowsOrigin }: CrossOrigin): boolean {
  if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return false;
  return headers.origin !== undefined && allowsOrigin(headers.origin);
}

/** The answer to it. Any header may be sent: what is asked of a request is asked when it comes. */
export function preflightHeaders({ headers }: RequestHead): Record<string, string> {
  const asked = headers["access-control-request-headers"];
  return {
    "access-control-allow-methods": METHODS,
    "access-control-max-age": PREFLIGHT_SECONDS,
    ...(asked === undefined ? {} : { "access-control-allow-headers": asked }),
  };
}
