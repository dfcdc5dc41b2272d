import { isLoopbackHost, isLoopbackOrigin, originsAmong } from "../base/web-origins.ts";
import { hostNotAllowed, originNotAllowed } from "./errors.ts";

/** Of a request, what the guard looks at. */
export interface Visitor {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Keeps web pages out that may not use this server. A page whose name was made to point at this machine (DNS rebinding)
 * still says its own name as the host; one that calls across origins says where it comes from. `allowedOrigins` are
 * exact, such as `https://example.com`.
 */
export function createOriginGuard(allowedOrigins: readonly string[]): (visitor: Visitor) => void {
  const isListed = originsAmong(allowedOrigins);
  return ({ headers }) => {
    const { host, origin } = headers;
    if (typeof host !== "string" || !isLoopbackHost(host)) throw hostNotAllowed();
    if (origin !== undefined && !isAllowed(origin, isListed)) throw originNotAllowed();
    // Following a link shows nothing to the other page.
    const isForeign = headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-mode"] !== "navigate";
    if (origin === undefined && isForeign) throw originNotAllowed();
  };
}

/** Pages of this machine may: whoever can serve one here can call us without a browser too. */
function isAllowed(origin: string | readonly string[], isListed: (origin: string) => boolean): boolean {
  return typeof origin === "string" && (isLoopbackOrigin(origin) || isListed(origin));
}
