import type { Egress } from "@antiphon/egress/egress.ts";
import { AuthorizationServerUnknown } from "./authorization-failed.ts";
import { type AuthorizationServer, authorizationFetch, findAuthorizationServer } from "./authorization-server.ts";
import type { Challenge } from "./challenge.ts";
import type { TokenPlace } from "./token-place.ts";
import { type AccessToken, accessTokenOf, authorizationFailure, requestTokens } from "./token-requests.ts";
import type { TokenOrigin } from "./token-source.ts";

/** How long finding the authorization server and getting a token may take together. */
const RENEW_MS = 20_000;
/** How long what is known of the authorization server holds. */
const KNOWN_MS = 60 * 60_000;

/** Tokens for the operator's client itself (the grant `client_credentials`). They are kept in memory only. */
export class ClientTokens implements TokenOrigin {
  readonly #place: Extract<TokenPlace, { type: "oauth" }>;
  readonly #egress: Pick<Egress, "openGuarded">;
  #token: AccessToken | null = null;
  #lastServer: { readonly server: AuthorizationServer; readonly since: number } | null = null;
  #challenge: Challenge | null = null;
  readonly #closing = new AbortController();

  constructor(place: Extract<TokenPlace, { type: "oauth" }>, egress: Pick<Egress, "openGuarded">) {
    this.#place = place;
    this.#egress = egress;
  }

  async current(): Promise<AccessToken | null> {
    return this.#token;
  }

  async renew(_old: AccessToken | null, challenge: Challenge | null): Promise<AccessToken | null> {
    if (challenge !== null) this.#challenge = challenge;
    const { clientId, clientSecret, scopes } = this.#place.settings;
    const fetch = authorizationFetch(
      this.#egress,
      AbortSignal.any([this.#closing.signal, AbortSignal.timeout(RENEW_MS)]),
    );
    try {
      const server = await this.#server(fetch);
      const client = { client_id: clientId ?? "", ...(clientSecret === null ? {} : { client_secret: clientSecret }) };
      const scope = scopes?.join(" ") ?? this.#challenge?.scope ?? server.scopes;
      const parameters = { grant_type: "client_credentials", ...(scope === null ? {} : { scope }) };
      this.#token = accessTokenOf(await requestTokens({ server, client, fetch }, parameters));
      return this.#token;
    } catch (error) {
      this.#lastServer = null;
      // Without a challenge, the server has not been asked yet where its metadata are.
      if (error instanceof AuthorizationServerUnknown && this.#challenge === null) return null;
      throw authorizationFailure(error);
    }
  }

  secrets(): readonly string[] {
    const { clientSecret } = this.#place.settings;
    return [clientSecret ?? [], this.#token?.value ?? []].flat();
  }

  close(): void {
    this.#closing.abort();
  }

  async #server(fetch: ReturnType<typeof authorizationFetch>): Promise<AuthorizationServer> {
    if (this.#lastServer !== null && Date.now() - this.#lastServer.since < KNOWN_MS) return this.#lastServer.server;
    const { url, settings } = this.#place;
    const resourceMetadata = this.#challenge?.resourceMetadata ?? null;
    const server = await findAuthorizationServer(url, { fetch, resourceMetadata, issuer: settings.issuer });
    this.#lastServer = { server, since: Date.now() };
    return server;
  }
}
