import {
  redactHeaders,
  redactText,
  redactUrl,
  SECRET_CHARACTERS_MIN,
  writtenForms,
} from "../../base/exchanges/redact.ts";
import { isRecord } from "../../base/json/records.ts";
import type { McpServer } from "./mcp-server.ts";

/** Variables that hold secrets, by their names. Others, such as folders, stand in ordinary results. */
const SECRET_NAME = /key|token|secret|pass|pwd|auth|cred|cookie|session|dsn/i;
/** How a header says what kind of secret follows. */
const SCHEME = /^(?:bearer|basic|digest|negotiate|token|api-?key)$/i;

/** Takes the operator's secrets out of what his MCP server says. */
export class ServerSecrets {
  readonly #secrets: readonly string[];

  constructor({ reach, isOperators }: Pick<McpServer, "reach" | "isOperators">) {
    this.#secrets = isOperators ? searchedForms(secretsOf(reach)) : [];
  }

  /** The text with `[redacted]` in place of each secret. */
  redact(text: string): string {
    return this.isIn(text) ? redactText(text, this.#secrets) : text;
  }

  /** A value that was read from JSON, with its texts and names redacted. */
  redactJson(value: unknown): unknown {
    if (this.#secrets.length === 0) return value;
    return this.isIn(JSON.stringify(value)) ? this.#redactMember(value) : value;
  }

  /** Whether the text holds a secret. */
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
    return Object.entries(reach.environment).flatMap(([name, value]) => (SECRET_NAME.test(name) ? value : []));
  return [...redactHeaders(Object.entries(reach.headers)).secrets, ...redactUrl(reach.url).secrets];
}

/** The secrets that can be searched for, in all forms. */
function searchedForms(secrets: readonly string[]): readonly string[] {
  return writtenForms(secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN && !SCHEME.test(secret)));
}
