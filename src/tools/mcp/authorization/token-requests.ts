import { EgressError } from "@antiphon/egress/egress-error.ts";
import {
  type FetchLike,
  fetchToken,
  type OAuthClientInformationMixed,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokens,
  refreshAuthorization,
} from "@modelcontextprotocol/client";
import { AuthorizationFailed } from "./authorization-failed.ts";
import type { AuthorizationServer } from "./authorization-server.ts";

const GRANT_OVER: string = OAuthErrorCode.InvalidGrant;
const ERROR_CODE = /^[a-z_]{1,64}$/;

/** An access token. Times are milliseconds of the epoch. */
export interface AccessToken {
  readonly value: string;
  readonly obtainedAt: number;
  /** Null if the server did not say. */
  readonly expiresAt: number | null;
}

/** Who asks an authorization server, and how. */
export interface TokenClient {
  readonly server: AuthorizationServer;
  readonly client: OAuthClientInformationMixed;
  readonly fetch: FetchLike;
}

/** Requests tokens with the parameters of a grant. */
export async function requestTokens(
  { server, client, fetch }: TokenClient,
  parameters: Readonly<Record<string, string>>,
): Promise<OAuthTokens> {
  const provider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [] },
    clientInformation: () => client,
    prepareTokenRequest: () => new URLSearchParams(parameters),
    // The library asks for these in other flows only.
    tokens: () => undefined,
    saveTokens: () => {},
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => "",
  };
  const { metadata, resource } = server;
  return bearerTokens(await fetchToken(provider, server.issuer, { metadata, resource, fetchFn: fetch }));
}

/** Requests tokens with a refresh token. The reply has the old refresh token if the server gave no new one. */
export async function refreshTokens(
  { server, client, fetch }: TokenClient,
  refreshToken: string,
): Promise<OAuthTokens> {
  const { metadata, resource } = server;
  const request = { metadata, clientInformation: client, refreshToken, resource, fetchFn: fetch };
  return bearerTokens(await refreshAuthorization(server.issuer, request));
}

export function accessTokenOf({ access_token: value, expires_in: seconds }: OAuthTokens): AccessToken {
  const obtainedAt = Date.now();
  return { value, obtainedAt, expiresAt: seconds === undefined ? null : obtainedAt + seconds * 1000 };
}

/** Whether the authorization server says that a code, a refresh token or a login is no longer good. */
export function isGrantOver(error: unknown): boolean {
  return error instanceof OAuthError && error.code === GRANT_OVER;
}

/** Why no token came, as `AuthorizationFailed`. Texts of the servers are not repeated: they may hold secrets. */
export function authorizationFailure(error: unknown): AuthorizationFailed {
  if (error instanceof AuthorizationFailed) return error;
  if (error instanceof EgressError)
    return new AuthorizationFailed(`its authorization server cannot be asked: ${error.message}`, { cause: error });
  if (error instanceof OAuthError && ERROR_CODE.test(error.code))
    return new AuthorizationFailed(`its authorization server answers '${error.code}'`, { cause: error });
  if (error instanceof Error && error.name === "TimeoutError")
    return new AuthorizationFailed("its authorization server did not answer in time", { cause: error });
  if (error instanceof Error && NAMED_FAILURES.has(error.name))
    return new AuthorizationFailed(NAMED_FAILURES.get(error.name) ?? "", { cause: error });
  if (error instanceof Error && "syscall" in error)
    return new AuthorizationFailed("its login in the data folder cannot be written", { cause: error });
  return new AuthorizationFailed("its authorization server answers with what cannot be read", { cause: error });
}

const NAMED_FAILURES: ReadonlyMap<string, string> = new Map([
  ["IssuerMismatchError", "its authorization server has another name than it should"],
  ["InsecureTokenEndpointError", "its authorization server takes secrets over plain http"],
  ["AbortError", "another process has been renewing its login for too long"],
  ["RegistrationRejectedError", "its authorization server registers no client like this one"],
]);

/** The tokens, if they can be sent. */
export function bearerTokens(tokens: OAuthTokens): OAuthTokens {
  if (tokens.token_type.toLowerCase() === "bearer" && /^[\u0021-\u007e]+$/.test(tokens.access_token)) return tokens;
  throw new AuthorizationFailed("its authorization server gives tokens of a kind that this server cannot send");
}
