import type { McpOptions } from "../mcp-server.ts";
import { ClientTokens } from "./client-tokens.ts";
import { LoginFile } from "./login-file.ts";
import { LoginTokens } from "./login-tokens.ts";
import type { TokenPlace } from "./token-place.ts";
import { TokenSource } from "./token-source.ts";

/** The tokens of the operator's servers, by their label. */
export class TokenSources {
  readonly #options: Pick<McpOptions, "operatorEgress" | "loginsFolder">;
  readonly #sources = new Map<string, TokenSource>();

  constructor(options: Pick<McpOptions, "operatorEgress" | "loginsFolder">) {
    this.#options = options;
  }

  /** Null for servers whose tokens come from elsewhere. */
  sourceOf(place: TokenPlace): TokenSource | null {
    if (place.type !== "oauth") return null;
    const earlier = this.#sources.get(place.label);
    if (earlier !== undefined) return earlier;
    const { operatorEgress, loginsFolder } = this.#options;
    const origin =
      place.settings.grant === "client_credentials"
        ? new ClientTokens(place, operatorEgress)
        : new LoginTokens(place.url, new LoginFile(loginsFolder, place.label), operatorEgress);
    const source = new TokenSource(origin);
    this.#sources.set(place.label, source);
    return source;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await Promise.all([...this.#sources.values()].map((source) => source.close()));
  }
}
