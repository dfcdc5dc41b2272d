import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import { hashApiKey } from "../../base/api-key.ts";
import type { Peer } from "../access/context.ts";
import { metricsKeyWanted, metricsNotShown } from "../errors/metrics-errors.ts";
import { unknownRoute } from "../errors/request-errors.ts";

/** Whom the metrics are shown to, and where they come from. */
export interface MetricsParts {
  /** The metrics as they are now, in the text format of Prometheus. */
  readonly text: () => Promise<string>;
  /** Who may read them where there is no key. */
  readonly shownTo: "loopback" | "open" | "off";
  readonly key: string | null;
}

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * `GET /metrics`: 404 where they are switched off, 401 without the key that they want, 403 for callers from elsewhere.
 */
export function getMetrics(parts: MetricsParts): ResponsesApiHandlers<{ readonly caller: Peer }>["getMetrics"] {
  return async (_request, { caller }) => {
    checkReader(parts, caller);
    return { status: 200, text: await parts.text(), contentType: CONTENT_TYPE };
  };
}

function checkReader({ shownTo, key }: MetricsParts, caller: Peer): void {
  if (shownTo === "off") throw unknownRoute("GET", "/metrics");
  if (key !== null) {
    const { authorization } = caller.headers;
    const sent = typeof authorization === "string" ? /^Bearer +(\S+) *$/i.exec(authorization)?.[1] : undefined;
    if (sent === undefined || hashApiKey(sent) !== hashApiKey(key)) throw metricsKeyWanted();
  } else if (shownTo === "loopback" && !isLocal(caller)) throw metricsNotShown();
}

const PROXY_HEADER = /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/;
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * A proxy on this machine has a loopback address too, and speaks for others; so does a browser whose page had its own
 * name lead here.
 */
function isLocal({ remoteAddress, headers }: Peer): boolean {
  const isLoopback = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/i.test(remoteAddress);
  const { host } = headers;
  const isOwnName = typeof host !== "string" || LOOPBACK_HOST.test(host);
  return isLoopback && isOwnName && !Object.keys(headers).some((name) => PROXY_HEADER.test(name));
}
