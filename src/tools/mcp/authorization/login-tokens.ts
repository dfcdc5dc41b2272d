import type { Egress } from "@antiphon/egress/egress.ts";
import { AuthorizationFailed } from "./authorization-failed.ts";
import { authorizationFetch, describeIssuer } from "./authorization-server.ts";
import type { Login, LoginFile } from "./login-file.ts";
import { type AccessToken, accessTokenOf, authorizationFailure, isGrantOver, refreshTokens } from "./token-requests.ts";
import type { TokenOrigin } from "./token-source.ts";

/** How long waiting for other processes and refreshing may take together. Less than a lock lasts. */
const RENEW_MS = 20_000;
/** How long a login that was read counts, so that the commands reach a running server. */
const READ_MS = 1000;

/** Tokens of a login of the operator, which all processes of this data folder share. */
export class LoginTokens implements TokenOrigin {
  readonly #url: string;
  readonly #file: LoginFile;
  readonly #egress: Pick<Egress, "openGuarded">;
  #read: { readonly login: Login | null; readonly at: number } | null = null;

  constructor(url: string, file: LoginFile, egress: Pick<Egress, "openGuarded">) {
    this.#url = url;
    this.#file = file;
    this.#egress = egress;
  }

  async current(isNew: boolean): Promise<AccessToken | null> {
    const latest = this.#read;
    const isFresh = !isNew && latest !== null && Date.now() - latest.at < READ_MS && latest.login?.isOver !== true;
    const login = isFresh ? latest.login : await this.#login();
    if (login?.isOver === true) throw loginOver();
    return login?.access ?? null;
  }

  /** Another process may have refreshed meanwhile: each refresh token is used once. */
  async renew(old: AccessToken | null): Promise<AccessToken | null> {
    if (old === null) return null;
    const signal = AbortSignal.timeout(RENEW_MS);
    try {
      return await this.#file.alone(signal, async () => {
        const login = await this.#login();
        if (login === null || login.access.value !== old.value) return login?.access ?? null;
        return await this.#refresh(login, signal);
      });
    } catch (error) {
      throw authorizationFailure(error);
    }
  }

  secrets(): readonly string[] {
    const login = this.#read?.login ?? null;
    return [login?.access.value ?? [], login?.refreshToken ?? [], login?.client.client_secret ?? []].flat();
  }

  /** A refresh goes on: its refresh token may be spent already. */
  close(): void {}

  async #login(): Promise<Login | null> {
    const login = await this.#file.read().catch((error: unknown) => {
      throw new AuthorizationFailed("its login in the data folder cannot be read", { cause: error });
    });
    this.#keep(login?.url === this.#url ? login : null);
    return this.#read?.login ?? null;
  }

  async #refresh(login: Login, signal: AbortSignal): Promise<AccessToken> {
    const { refreshToken, client, resource, issuer } = login;
    if (refreshToken === null) throw loginOver();
    const fetch = authorizationFetch(this.#egress, signal);
    const server = { ...(await describeIssuer(issuer, fetch, this.#url)), resource, scopes: null };
    const tokens = await refreshTokens({ server, client, fetch }, refreshToken).catch(async (error: unknown) => {
      if (!isGrantOver(error)) throw error;
      await this.#write({ ...login, refreshToken: null, isOver: true });
      throw loginOver();
    });
    const access = accessTokenOf(tokens);
    await this.#write({ ...login, access, refreshToken: tokens.refresh_token ?? refreshToken });
    return access;
  }

  async #write(login: Login): Promise<void> {
    await this.#file.write(login);
    this.#keep(login);
  }

  #keep(login: Login | null): void {
    this.#read = { login, at: Date.now() };
  }
}

function loginOver(): AuthorizationFailed {
  return new AuthorizationFailed("the login of the operator has ended");
}
