import { assert } from "@antiphon/base/assert.ts";
import { withoutRecording } from "@antiphon/base/exchanges/exchange-recording.ts";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type FetchLike,
  type OAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from "@modelcontextprotocol/client";
import { AuthorizationFailed, AuthorizationServerUnknown } from "./authorization-failed.ts";

/** The maximum bytes of metadata and of a reply with tokens. */
const REPLY_BYTES_MAX = 256 * 1024;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The server that gives tokens for an MCP server. */
export interface AuthorizationServer {
  /** Its name, and the key of what it gave. */
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** The MCP server, as the tokens name it (RFC 8707). */
  readonly resource: string;
  /** The scopes of the MCP server; null if it names none. */
  readonly scopes: string | null;
}

export interface Discovery {
  readonly fetch: FetchLike;
  /** The address of the resource's metadata from a challenge; null: the well-known one. */
  readonly resourceMetadata: string | null;
  /** The only permitted authorization server; null: the first. */
  readonly issuer: string | null;
}

/** Calls for metadata and tokens pass the guard of the operator's servers and are never recorded. */
export function authorizationFetch(egress: Pick<Egress, "openGuarded">, signal: AbortSignal): FetchLike {
  return (url, init = {}) =>
    withoutRecording(() =>
      egress.openGuarded(String(url), {
        kind: "mcp",
        method: init.method ?? "GET",
        headers: new Headers(init.headers),
        body: textOfBody(init.body ?? null),
        bytesMax: REPLY_BYTES_MAX,
        signal,
        caller: "operator",
      }),
    );
}

/** The library sends forms and JSON. */
function textOfBody(body: RequestInit["body"] | null): string | null {
  assert(body === null || typeof body === "string" || body instanceof URLSearchParams, "a request for tokens is text");
  return body instanceof URLSearchParams ? body.toString() : body;
}

/**
 * Finds the authorization server of an MCP server by the metadata of both (RFC 9728, RFC 8414, OpenID Connect
 * Discovery). Rejects with `AuthorizationFailed`, `EgressError`, or an error of the client library.
 */
export async function findAuthorizationServer(url: string, discovery: Discovery): Promise<AuthorizationServer> {
  const resource = await resourceMetadata(url, discovery);
  const issuers = resource?.authorization_servers ?? [];
  const { issuer } = discovery;
  if (issuer !== null && resource !== null && !issuers.some((one) => isSameIssuer(one, issuer)))
    throw new AuthorizationFailed("it does not name the authorization server of the operator's settings");
  const chosenIssuer = issuer ?? issuers[0] ?? new URL("/", url).href;
  return {
    ...(await describeIssuer(chosenIssuer, discovery.fetch, url)),
    resource: resource?.resource ?? resourceUrlFromServerUrl(url).href,
    scopes: resource?.scopes_supported?.join(" ") ?? null,
  };
}

/** The metadata of an authorization server that names itself by this issuer. */
export async function describeIssuer(
  issuer: string,
  fetch: FetchLike,
  serverUrl: string,
): Promise<Pick<AuthorizationServer, "issuer" | "metadata">> {
  if (!isTrustworthy(issuer, serverUrl))
    throw new AuthorizationFailed("its authorization server is not reached by https");
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  if (metadata === undefined) throw new AuthorizationServerUnknown("its authorization server has no metadata");
  return { issuer: metadata.issuer, metadata };
}

/**
 * An endpoint that not every authorization server has; null if this one has none. The library drops it from the
 * metadata of OpenID Connect.
 */
export async function endpointOf(
  { issuer, metadata }: Pick<AuthorizationServer, "issuer" | "metadata">,
  name: "device_authorization_endpoint" | "revocation_endpoint",
  fetch: FetchLike,
): Promise<string | null> {
  const known = Object.entries(metadata).find(([member]) => member === name)?.[1];
  if (typeof known === "string") return known;
  const reply = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const described = reply.ok ? jsonOrUndefined(await reply.text()) : undefined;
  if (!isRecord(described) || described["issuer"] !== issuer) return null;
  return typeof described[name] === "string" ? described[name] : null;
}

async function resourceMetadata(
  url: string,
  { fetch, resourceMetadata: address }: Discovery,
): Promise<OAuthProtectedResourceMetadata | null> {
  if (address !== null && !isTrustworthy(address, url))
    throw new AuthorizationFailed("its resource metadata are not reached by https");
  const options = address === null ? {} : { resourceMetadataUrl: address };
  const metadata = await discoverOAuthProtectedResourceMetadata(url, options, fetch).catch((error: unknown) => {
    if (address !== null) throw error;
    return null; // Older servers have none, and their origin is the authorization server.
  });
  if (metadata === null) return null;
  const isOfServer = checkResourceAllowed({
    requestedResource: resourceUrlFromServerUrl(url),
    configuredResource: metadata.resource,
  });
  if (!isOfServer) throw new AuthorizationFailed("its resource metadata describe another server");
  return metadata;
}

/** Secrets and codes are sent there: over https, within this machine, or to the MCP server's own host. */
function isTrustworthy(address: string, serverUrl: string): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && (LOOPBACK.test(url.hostname) || url.hostname === new URL(serverUrl).hostname);
}

function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}
