import type { Egress } from "@antiphon/egress/egress.ts";
import {
  exchangeAuthorization,
  type OAuthTokens,
  registerClient,
  startAuthorization,
} from "@modelcontextprotocol/client";
import { AuthorizationFailed } from "./authorization-failed.ts";
import { type AuthorizationServer, authorizationFetch, findAuthorizationServer } from "./authorization-server.ts";
import { type Challenge, readChallenge } from "./challenge.ts";
import { pollDevice, requestDevice, type ShownDevice } from "./device-login.ts";
import type { Login } from "./login-file.ts";
import { openRedirect, type ServePage } from "./loopback-redirect.ts";
import type { OAuthSettings } from "./token-place.ts";
import { accessTokenOf, authorizationFailure, bearerTokens, type TokenClient } from "./token-requests.ts";

const PROBE_BYTES_MAX = 64 * 1024;
/** How long the servers may take before and after a person has agreed. */
const SERVERS_MS = 60_000;
const OFFLINE = "offline_access";
const PROBE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "antiphon", version: "1" } },
});

/** A login that the operator asks for. */
export interface LoginRequest {
  readonly url: string;
  readonly settings: OAuthSettings;
  /** Beside those of the settings or of the server; separated by spaces. */
  readonly moreScopes: string;
  readonly egress: Pick<Egress, "openGuarded">;
}

/** How a person agrees: in a browser that reaches this machine, or in one anywhere. */
export type LoginWay =
  | {
      readonly type: "browser";
      readonly servePage: ServePage;
      readonly port: number;
      readonly show: (address: string) => void;
    }
  | { readonly type: "device"; readonly show: (device: ShownDevice) => void };

/** Logs in at the authorization server of an MCP server. Rejects with `AuthorizationFailed` or the signal's reason. */
export async function logIn(request: LoginRequest, way: LoginWay, signal: AbortSignal): Promise<Login> {
  try {
    const { server, scope } = await findServer(request, signal);
    const { tokens, client } =
      way.type === "browser"
        ? await logInByBrowser({ ...request, server, scope }, way, signal)
        : await logInByDevice({ ...request, server, scope }, way, signal);
    return {
      url: request.url,
      issuer: server.issuer,
      resource: server.resource,
      scope: tokens.scope ?? scope,
      client,
      access: accessTokenOf(tokens),
      refreshToken: tokens.refresh_token ?? null,
      isOver: false,
    };
  } catch (error) {
    signal.throwIfAborted();
    throw authorizationFailure(error);
  }
}

interface FoundServer {
  readonly server: AuthorizationServer;
  readonly scope: string | null;
}

interface Agreed {
  readonly tokens: OAuthTokens;
  readonly client: Login["client"];
}

async function findServer(
  { url, settings, moreScopes, egress }: LoginRequest,
  signal: AbortSignal,
): Promise<FoundServer> {
  const limit = withLoginLimit(signal);
  const challenge = await challengeOf(url, egress, limit);
  const resourceMetadata = challenge?.resourceMetadata ?? null;
  const fetch = authorizationFetch(egress, limit);
  const server = await findAuthorizationServer(url, { fetch, resourceMetadata, issuer: settings.issuer });
  const wanted = settings.scopes?.join(" ") ?? challenge?.scope ?? server.scopes ?? "";
  return { server, scope: scopesOf(`${wanted} ${moreScopes}`, server) };
}

/** What the server answers to somebody without a token. */
async function challengeOf(
  url: string,
  egress: LoginRequest["egress"],
  signal: AbortSignal,
): Promise<Challenge | null> {
  const reply = await egress.openGuarded(url, {
    kind: "mcp",
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: PROBE,
    bytesMax: PROBE_BYTES_MAX,
    signal,
    caller: "operator",
  });
  await reply.body?.cancel();
  return readChallenge(reply.headers.get("www-authenticate"));
}

/** Each scope once. Some servers give refresh tokens only with a scope for it. Null: those that the server chooses. */
function scopesOf(text: string, { metadata }: AuthorizationServer): string | null {
  const names = text.split(" ").filter((name) => name !== "");
  const isOffered = metadata.scopes_supported?.includes(OFFLINE) === true;
  const all = new Set(isOffered ? [...names, OFFLINE] : names);
  return all.size === 0 ? null : [...all].join(" ");
}

type Prepared = LoginRequest & FoundServer;

async function logInByBrowser(
  { server, scope, settings, egress }: Prepared,
  { servePage, port, show }: Extract<LoginWay, { type: "browser" }>,
  signal: AbortSignal,
): Promise<Agreed> {
  const redirect = await openRedirect(servePage, port);
  try {
    const { metadata, issuer, resource } = server;
    const client = await clientFor({ server, settings, egress }, [redirect.url], signal);
    const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
      metadata,
      clientInformation: client,
      redirectUrl: redirect.url,
      state: redirect.state,
      resource,
      ...(scope === null ? {} : { scope }),
    });
    show(authorizationUrl.href);
    const { code, iss } = await redirect.answer(signal);
    const tokens = await exchangeAuthorization(issuer, {
      metadata,
      clientInformation: client,
      authorizationCode: code,
      codeVerifier,
      redirectUri: redirect.url,
      resource,
      fetchFn: authorizationFetch(egress, withLoginLimit(signal)),
      ...(iss === null ? {} : { iss }), // The library compares it with the issuer.
    });
    return { tokens: bearerTokens(tokens), client };
  } finally {
    redirect.close();
  }
}

async function logInByDevice(
  { server, scope, settings, egress }: Prepared,
  { show }: Extract<LoginWay, { type: "device" }>,
  signal: AbortSignal,
): Promise<Agreed> {
  const client = await clientFor({ server, settings, egress }, [], signal);
  const asking = (): TokenClient => ({ server, client, fetch: authorizationFetch(egress, withLoginLimit(signal)) });
  const device = await requestDevice(asking(), scope);
  show(device);
  return { tokens: await pollDevice(asking, device, signal), client };
}

/** The client of the settings, or one that is registered for this login. */
async function clientFor(
  { server, settings, egress }: Pick<Prepared, "server" | "settings" | "egress">,
  redirects: string[],
  signal: AbortSignal,
): Promise<Login["client"]> {
  const { clientId, clientSecret } = settings;
  if (clientId !== null)
    return { client_id: clientId, ...(clientSecret === null ? {} : { client_secret: clientSecret }) };
  const { metadata, issuer } = server;
  if (metadata.registration_endpoint === undefined)
    throw new AuthorizationFailed(
      "its authorization server registers no clients by itself. Register one there by hand, and set client_id in oauth of this server",
    );
  const grant = redirects.length === 0 ? "urn:ietf:params:oauth:grant-type:device_code" : "authorization_code";
  const { client_id, client_secret } = await registerClient(issuer, {
    metadata,
    clientMetadata: {
      client_name: "Antiphon",
      redirect_uris: redirects,
      grant_types: [grant, "refresh_token"],
      response_types: redirects.length === 0 ? [] : ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
    fetchFn: authorizationFetch(egress, withLoginLimit(signal)),
  });
  return { client_id, ...(client_secret === undefined ? {} : { client_secret }) };
}

function withLoginLimit(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(SERVERS_MS)]);
}
