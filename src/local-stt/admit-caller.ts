import { hostNotAllowed, originNotAllowed } from "./errors.ts";

/** Of a request, what its doorkeeper looks at. */
export interface Visitor {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const PORT = /:\d{1,5}$/;

/**
 * Keeps web pages out that may not use this server. A page whose name was made to point at this machine (DNS rebinding) still says its own name as the
 * host; one that calls across origins says where it comes from. `allowedOrigins` are exact, such as `https://example.com`.
 */
export function createDoorkeeper(allowedOrigins: readonly string[]): (visitor: Visitor) => void {
  const allowed = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/+$/, "")));
  return ({ headers }) => {
    if (!isLoopbackHost(headers["host"])) throw hostNotAllowed();
    const { origin } = headers;
    if (origin !== undefined && !isAllowedOrigin(origin, allowed)) throw originNotAllowed();
    const isForeign = headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-mode"] !== "navigate"; // Following a link shows nothing to the other page.
    if (origin === undefined && isForeign) throw originNotAllowed();
  };
}

function isLoopbackHost(host: string | readonly string[] | undefined): boolean {
  return typeof host === "string" && LOOPBACK_HOSTS.has(host.toLowerCase().replace(PORT, ""));
}

/** Pages of this machine may: whoever can serve one here can call us without a browser too. */
function isAllowedOrigin(origin: string | readonly string[], allowed: ReadonlySet<string>): boolean {
  if (typeof origin !== "string") return false;
  if (allowed.has(origin.toLowerCase())) return true;
  const match = /^https?:\/\/(.+)$/i.exec(origin);
  return match?.[1] !== undefined && isLoopbackHost(match[1]);
}
