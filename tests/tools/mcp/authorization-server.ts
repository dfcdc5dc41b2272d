import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { serveHttp } from "../../kit/http-server.ts";

/** What the authorization server does other than usual. It may change during a test. */
export interface AuthorizationBehaviour {
  /** The life of access tokens. */
  tokenSeconds: number;
  /** The issuer in its metadata; null: its own. */
  claimedIssuer: string | null;
  /** The issuer in its redirects; null: its own. */
  redirectIssuer: string | null;
  canRegister: boolean;
  /** Whether its metadata are those of OpenID Connect alone. */
  isOpenId: boolean;
  hasDevices: boolean;
  /** How many polls of a device find that nobody has agreed yet. */
  pendingPolls: number;
  /** Called before the token endpoint answers. */
  beforeTokens: () => Promise<void>;
}

/** An OAuth authorization server of its own, and what it has given. */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly behaviour: AuthorizationBehaviour;
  /** The bodies of requests to the token endpoint, oldest first. */
  readonly requests: readonly Form[];
  /** The scope of a valid access token; null for any other. */
  scopeOf(token: string): string | null;
  /** Makes all access tokens, or the refresh tokens too, worthless. */
  revokeAll(what: "access" | "all"): void;
  /** All codes, tokens and secrets that it ever gave. */
  readonly secrets: readonly string[];
}

export const CLIENT = { id: "antiphon-client", secret: "the-secret-of-the-client" } as const;

type Form = Readonly<Record<string, string>>;

interface Reply {
  readonly status: number;
  readonly body?: object;
  readonly location?: string;
}

interface Code {
  readonly scope: string;
  readonly challenge: string;
  readonly redirect: string;
}

/** Refresh tokens are used once: another use revokes all of them. */
export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const server = new Grants();
  const { url: issuer } = await serveHttp((request, response) => {
    void answer(server, request).then(({ status, body, location }) => {
      response.writeHead(status, location === undefined ? { "content-type": "application/json" } : { location });
      response.end(body === undefined ? "" : JSON.stringify(body));
    });
  });
  return Object.assign(server, { issuer });
}

async function answer(server: Grants, request: IncomingMessage): Promise<Reply> {
  const issuer = `http://${request.headers.host}`;
  const url = new URL(request.url ?? "/", issuer);
  const body = await text(request);
  const form = { ...Object.fromEntries(new URLSearchParams(body)), ...basicClient(request) };
  switch (url.pathname) {
    case "/.well-known/oauth-authorization-server":
      return server.behaviour.isOpenId ? { status: 404, body: {} } : { status: 200, body: server.metadata(issuer) };
    case "/.well-known/openid-configuration":
      return { status: 200, body: { ...server.metadata(issuer), ...OPEN_ID, jwks_uri: `${issuer}/keys` } };
    case "/register":
      return { status: 201, body: { ...JSON.parse(body), client_id: server.addClient() } };
    case "/authorize":
      return { status: 302, location: server.authorize(url.searchParams, issuer) };
    case "/device":
      return { status: 200, body: server.addDevice(form, issuer) };
    case "/revoke":
      server.revoke(form);
      return { status: 200, body: {} };
    case "/token":
      return await server.answerToken(form);
    default:
      return { status: 404, body: {} };
  }
}

/** What OpenID Connect requires beside. */
const OPEN_ID = { subject_types_supported: ["public"], id_token_signing_alg_values_supported: ["RS256"] };

class Grants {
  readonly behaviour: AuthorizationBehaviour = {
    tokenSeconds: 3600,
    claimedIssuer: null,
    redirectIssuer: null,
    canRegister: true,
    isOpenId: false,
    hasDevices: true,
    pendingPolls: 0,
    beforeTokens: async () => {},
  };
  readonly secrets: string[] = [CLIENT.secret];
  readonly requests: Form[] = [];
  readonly #clients = new Set<string>([CLIENT.id]);
  readonly #codes = new Map<string, Code>();
  readonly #access = new Map<string, string>();
  readonly #refresh = new Map<string, string>();

  metadata(issuer: string): object {
    return {
      issuer: this.behaviour.claimedIssuer ?? issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      revocation_endpoint: `${issuer}/revoke`,
      ...(this.behaviour.canRegister ? { registration_endpoint: `${issuer}/register` } : {}),
      ...(this.behaviour.hasDevices ? { device_authorization_endpoint: `${issuer}/device` } : {}),
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
    };
  }

  addClient(): string {
    const id = `client-${randomUUID()}`;
    this.#clients.add(id);
    return id;
  }

  /** Agrees at once, as a person would in a browser. */
  authorize(wishes: URLSearchParams, issuer: string): string {
    const redirect = new URL(wishes.get("redirect_uri") ?? "");
    const code = this.#secret("code");
    const challenge = wishes.get("code_challenge") ?? "";
    this.#codes.set(code, { scope: wishes.get("scope") ?? "", challenge, redirect: redirect.href });
    redirect.searchParams.set("code", code);
    redirect.searchParams.set("state", wishes.get("state") ?? "");
    redirect.searchParams.set("iss", this.behaviour.redirectIssuer ?? issuer);
    return redirect.href;
  }

  addDevice({ scope = "" }: Form, issuer: string): object {
    const code = this.#secret("device");
    this.#codes.set(code, { scope, challenge: "", redirect: "" });
    const shown = { user_code: "WDJB-MJHT", verification_uri: `${issuer}/activate` };
    return { device_code: code, ...shown, expires_in: 600, interval: 0.05 };
  }

  revoke({ token = "" }: Form): void {
    this.#access.delete(token);
    this.#refresh.delete(token);
  }

  revokeAll(what: "access" | "all"): void {
    this.#access.clear();
    if (what === "all") this.#refresh.clear();
  }

  scopeOf(token: string): string | null {
    return this.#access.get(token) ?? null;
  }

  async answerToken(form: Form): Promise<Reply> {
    this.requests.push(form);
    await this.behaviour.beforeTokens();
    if (!this.#clients.has(form["client_id"] ?? "")) return { status: 401, body: { error: "invalid_client" } };
    const granted = this.#grant(form);
    if (typeof granted !== "string") return { status: 200, body: granted };
    return { status: 400, body: { error: granted, error_description: `echoes ${JSON.stringify(form)}` } };
  }

  #grant(form: Form): object | string {
    const { grant_type: type = "", code = "", device_code: device = "", refresh_token: refresh = "" } = form;
    switch (type) {
      case "client_credentials":
        return form["client_secret"] === CLIENT.secret ? this.#tokens(form["scope"] ?? "", false) : "invalid_client";
      case "authorization_code":
        return this.#redeem(code, form);
      case "refresh_token": {
        const scope = this.#refresh.get(refresh);
        if (scope === undefined) this.#refresh.clear();
        this.#refresh.delete(refresh);
        return scope === undefined ? "invalid_grant" : this.#tokens(scope, true);
      }
      case "urn:ietf:params:oauth:grant-type:device_code": {
        const waiting = this.#codes.get(device);
        if (waiting === undefined) return "expired_token";
        this.behaviour.pendingPolls -= 1;
        return this.behaviour.pendingPolls < 0 ? this.#tokens(waiting.scope, true) : "authorization_pending";
      }
      default:
        return "unsupported_grant_type";
    }
  }

  #redeem(code: string, form: Form): object | string {
    const known = this.#codes.get(code);
    this.#codes.delete(code);
    const hash = createHash("sha256").update(form["code_verifier"] ?? "");
    if (known === undefined || known.challenge !== hash.digest("base64url") || known.redirect !== form["redirect_uri"])
      return "invalid_grant";
    return this.#tokens(known.scope, true);
  }

  #tokens(scope: string, isRefreshable: boolean): object {
    const access = this.#secret("access");
    this.#access.set(access, scope);
    const tokens = { access_token: access, token_type: "Bearer", expires_in: this.behaviour.tokenSeconds, scope };
    if (!isRefreshable) return tokens;
    const refresh = this.#secret("refresh");
    this.#refresh.set(refresh, scope);
    return { ...tokens, refresh_token: refresh };
  }

  #secret(kind: string): string {
    const value = `${kind}-${randomUUID()}`;
    this.secrets.push(value);
    return value;
  }
}

function basicClient({ headers: { authorization = "" } }: IncomingMessage): Form {
  const [scheme, encoded = ""] = authorization.split(" ");
  if (scheme !== "Basic") return {};
  const [id = "", secret = ""] = Buffer.from(encoded, "base64").toString().split(":");
  return { client_id: id, client_secret: secret };
}
