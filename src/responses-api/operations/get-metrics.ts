import { hashApiKey } from "@antiphon/base/api-key.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller, Peer } from "../access/caller.ts";
import { isLoopbackAddress, namesProxy } from "../access/local-peer.ts";
import { metricsKeyRequired, metricsNotShown } from "../errors/organization-errors.ts";
import { unknownRoute } from "../errors/request-errors.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The metrics, and who may read them. */
export interface ShownMetrics {
  /** The current metrics, in the text format of Prometheus. */
  readonly text: () => Promise<string>;
  /** Who may read them if `key` is null. */
  readonly shownTo: "loopback" | "open" | "off";
  readonly key: string | null;
}

/** `GET /metrics`: 404 if metrics are off, 401 without the configured key, 403 for callers from other machines. */
export function getMetrics(metrics: ShownMetrics): ResponsesApiHandlers<Pick<Caller, "peer">>["getMetrics"] {
  return async (_request, { peer }) => {
    checkAccess(metrics, peer);
    return { status: 200, text: await metrics.text(), contentType: CONTENT_TYPE };
  };
}

function checkAccess({ shownTo, key }: ShownMetrics, peer: Peer): void {
  if (shownTo === "off") throw unknownRoute("GET", "/metrics");
  if (key !== null) {
    const { authorization } = peer.headers;
    const sentKey = typeof authorization === "string" ? /^Bearer +(\S+) *$/i.exec(authorization)?.[1] : undefined;
    if (sentKey === undefined || hashApiKey(sentKey) !== hashApiKey(key)) throw metricsKeyRequired();
  } else if (shownTo === "loopback" && !isLocal(peer)) throw metricsNotShown();
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * A loopback address is not enough: a proxy on this machine has one too, and so has a local browser whose page used DNS
 * rebinding. Proxy headers and the host name distinguish them.
 */
function isLocal({ remoteAddress, headers }: Peer): boolean {
  const { host } = headers;
  const isOwnName = typeof host !== "string" || LOOPBACK_HOST.test(host);
  return isLoopbackAddress(remoteAddress) && isOwnName && !namesProxy(headers);
}
