/** The operator's client for a server, and how it gets tokens. Unknown parts are found by asking the servers. */
export interface OAuthSettings {
  /** `client_credentials`: the client itself is authorized; `login`: the operator, by `antiphon mcp login`. */
  readonly grant: "client_credentials" | "login";
  /** Null: the login registers a client. */
  readonly clientId: string | null;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  /** Null: those that the server names. */
  readonly scopes: readonly string[] | null;
  /** The only authorization server that is trusted with this server; null: the first one that the server names. */
  readonly issuer: string | null;
}

/** Where the tokens of a server come from: the request, or the operator's server of this label. */
export type TokenPlace =
  | { readonly type: "request" }
  | { readonly type: "headers"; readonly label: string }
  | { readonly type: "oauth"; readonly label: string; readonly url: string; readonly settings: OAuthSettings };
