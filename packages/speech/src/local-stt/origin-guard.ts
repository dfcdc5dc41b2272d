import { isLoopbackHost, isLoopbackOrigin, originsAmong } from "@antiphon/base/web-origins.ts";
import { hostNotAllowed, originNotAllowed } from "./errors.ts";

/** The part of a request that the guard checks. */
export interface CheckedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Rejects requests of web pages that may not use this server. The check of `Host` stops DNS rebinding, where a page's
 * own name resolves to this machine; the check of `Origin` stops calls from other sites. `allowedOrigins` are exact,
 * such as `https://example.com`.
 */
export function createOriginGuard(allowedOrigins: readonly string[]): (request: CheckedRequest) => void {
  const isListed = originsAmong(allowedOrigins);
  return ({ headers }) => {
    const { host, origin } = headers;
    if (typeof host !== "string" || !isLoopbackHost(host)) throw hostNotAllowed();
    if (origin !== undefined && !isAllowed(origin, isListed)) throw originNotAllowed();
    // Navigation is allowed, because the linking page cannot read the reply.
    const isForeign = headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-mode"] !== "navigate";
    if (origin === undefined && isForeign) throw originNotAllowed();
  };
}

/** Pages of this machine are allowed: a program that serves one here can also call the server directly. */
function isAllowed(origin: string | readonly string[], isListed: (origin: string) => boolean): boolean {
  return typeof origin === "string" && (isLoopbackOrigin(origin) || isListed(origin));
}
