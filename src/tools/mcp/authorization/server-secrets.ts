import {
  redactHeaders,
  redactText,
  redactUrl,
  SECRET_CHARACTERS_MIN,
  writtenForms,
} from "@antiphon/base/exchanges/redact.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { McpServer } from "../mcp-server.ts";
import type { TokenSource } from "./token-source.ts";

/** Names of secret variables. Other variables, such as folders, occur in ordinary results. */
const SECRET_NAME = /key|token|secret|pass|pwd|auth|cred|cookie|session|dsn/i;
/** The scheme before a secret in a header. */
const SCHEME = /^(?:bearer|basic|digest|negotiate|token|api-?key)$/i;

/** Redacts the operator's secrets in an MCP server's texts. */
export class ServerSecrets {
  readonly #ofServer: readonly string[];
  readonly #tokens: Pick<TokenSource, "secrets"> | null;
  #ofTokens: { readonly text: string; readonly forms: readonly string[] } = { text: "", forms: [] };

  /** `tokens` change with time, and so do their secrets. */
  constructor(
    { reach, isOperators }: Pick<McpServer, "reach" | "isOperators">,
    tokens: Pick<TokenSource, "secrets"> | null = null,
  ) {
    this.#ofServer = isOperators ? searchedForms(secretsOf(reach)) : [];
    this.#tokens = tokens;
  }

  get #secrets(): readonly string[] {
    const secrets = this.#tokens?.secrets() ?? [];
    if (secrets.length === 0) return this.#ofServer;
    const text = secrets.join("\n");
    if (text !== this.#ofTokens.text) this.#ofTokens = { text, forms: [...this.#ofServer, ...searchedForms(secrets)] };
    return this.#ofTokens.forms;
  }

  /** The text with `[redacted]` in place of each secret. */
  redact(text: string): string {
    return this.isIn(text) ? redactText(text, this.#secrets) : text;
  }

  /** A JSON value with its texts and names redacted. */
  redactJson(value: unknown): unknown {
    if (this.#secrets.length === 0) return value;
    return this.isIn(JSON.stringify(value)) ? this.#redactMember(value) : value;
  }

  /** Whether the text contains a secret. */
  isIn(text: string): boolean {
    return this.#secrets.some((secret) => text.includes(secret));
  }

  #redactMember(member: unknown): unknown {
    if (typeof member === "string") return this.redact(member);
    if (typeof member === "number") return this.isIn(String(member)) ? this.redact(String(member)) : member;
    if (Array.isArray(member)) return member.map((inner: unknown) => this.#redactMember(inner));
    if (!isRecord(member)) return member;
    const members = Object.entries(member).map(([name, inner]) => [this.redact(name), this.#redactMember(inner)]);
    return Object.fromEntries(members);
  }
}

function secretsOf(reach: McpServer["reach"]): readonly string[] {
  if (reach.type === "program")
    return Object.entries(reach.environment).flatMap(([name, value]) =>
      SECRET_NAME.test(name) ? [value, ...value.split("\n")] : [],
    );
  return [...redactHeaders(Object.entries(reach.headers)).secrets, ...redactUrl(reach.url).secrets];
}

/** The searchable secrets, in all encodings. */
function searchedForms(secrets: readonly string[]): readonly string[] {
  return writtenForms(secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN && !SCHEME.test(secret)));
}
