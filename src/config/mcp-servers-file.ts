import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import { parse } from "yaml";
import { ConfigError } from "./config-error.ts";
import { VARIABLE } from "./environment/file-variables.ts";
import { readEnvironment } from "./environment/read-environment.ts";
import type { Environment } from "./load-config.ts";

/** A selection of tools, as in requests. */
export interface ToolSelection {
  readonly tool_names?: string[];
  readonly read_only?: boolean;
}

/** An entry of `MCP_SERVERS_FILE` with environment variables filled in. Headers and environment may be secret. */
export interface McpServerEntry {
  readonly label: string;
  /** A remote server; null for a program. */
  readonly url: string | null;
  readonly command: string | null;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly description: string | null;
  readonly allowedTools: string[] | ToolSelection | null;
  readonly requireApproval:
    | "always"
    | "never"
    | { readonly always?: ToolSelection; readonly never?: ToolSelection }
    | null;
  /** Names of tools that do no more if a call is repeated with the same key. */
  readonly idempotent: readonly string[];
  /** Whether `requireApproval` is only a default, which a request may loosen. */
  readonly allowsLessApproval: boolean;
  readonly owners: readonly string[] | null;
  readonly connectorIds: readonly string[];
  /** What requests without this member do with questions of the server to the user. */
  readonly elicitation: "ask" | "decline";
  readonly forwardsAuthorization: boolean;
  readonly oauth: OAuthEntry | null;
}

/** How tokens are got for a server. */
export interface OAuthEntry {
  readonly grant: "client_credentials" | "login";
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly scopes: readonly string[] | null;
  readonly issuer: string | null;
}

const LABEL = /^[\w-]{1,64}$/;
const MEMBERS: ReadonlySet<string> = new Set([
  "url",
  "command",
  "args",
  "folder",
  "environment",
  "headers",
  "description",
  "allowed_tools",
  "require_approval",
  "allows_less_approval",
  "idempotent",
  "owners",
  "connector_ids",
  "elicitation",
  "forwards_authorization",
  "oauth",
]);
const OAUTH_MEMBERS: ReadonlySet<string> = new Set([
  "grant",
  "client_id",
  "client_secret",
  "client_secret_file",
  "scopes",
  "issuer",
]);
/** Where the operator logs in, a server that wants no token is asked without one. */
const LOGIN: OAuthEntry = { grant: "login", clientId: null, clientSecret: null, scopes: null, issuer: null };

/** The operator's MCP servers; empty if `file` is null. Throws `ConfigError` if the file is invalid. */
export function readMcpServers(
  file: string | null,
  environment: Environment = readEnvironment(),
): readonly McpServerEntry[] {
  if (file === null) return [];
  const read = readYaml(file);
  const servers = isRecord(read) ? read["servers"] : undefined;
  if (!isRecord(servers)) throw problem(file, "has no member 'servers' that maps labels to servers");
  return Object.entries(servers).map(([label, entry]) => readEntry(new EntryReader(file, label, environment), entry));
}

function readYaml(file: string): unknown {
  try {
    return parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw problem(file, `cannot be read: ${error instanceof Error ? error.message.split("\n")[0] : ""}`);
  }
}

function readEntry(reader: EntryReader, entry: unknown): McpServerEntry {
  if (!LABEL.test(reader.label))
    reader.refuse("", "has a label with other characters than letters, digits, '_' and '-'");
  if (!isRecord(entry)) return reader.refuse("", "is not a map");
  const unknown = Object.keys(entry).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) reader.refuse(unknown, "is unknown");
  const url = reader.text(entry, "url");
  const command = reader.text(entry, "command");
  if ((url === null) === (command === null)) reader.refuse("", "needs either url or command");
  if (url !== null && !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    reader.refuse("url", "is not an http or https URL");
  return {
    label: reader.label,
    url,
    command,
    args: reader.texts(entry, "args") ?? [],
    folder: resolve(dirname(reader.file), reader.text(entry, "folder") ?? "."),
    environment: reader.textMap(entry, "environment"),
    headers: reader.textMap(entry, "headers"),
    description: reader.text(entry, "description"),
    allowedTools: readAllowed(reader, entry),
    requireApproval: readRequired(reader, entry),
    allowsLessApproval: reader.flag(entry, "allows_less_approval") ?? false,
    idempotent: reader.texts(entry, "idempotent") ?? [],
    owners: reader.texts(entry, "owners"),
    connectorIds: reader.texts(entry, "connector_ids") ?? [],
    elicitation: readElicitation(reader, entry["elicitation"] ?? "decline"),
    forwardsAuthorization: reader.flag(entry, "forwards_authorization") ?? false,
    oauth: readOAuth(reader, entry, url !== null),
  };
}

function readElicitation(reader: EntryReader, value: unknown): McpServerEntry["elicitation"] {
  return value === "ask" || value === "decline" ? value : reader.refuse("elicitation", "is neither ask nor decline");
}

/** Null where another rule gives the authorization. */
function readOAuth(reader: EntryReader, entry: Record<string, unknown>, isRemote: boolean): OAuthEntry | null {
  const oauth = entry["oauth"] ?? null;
  const { headers } = entry;
  const hasHeader = isRecord(headers) && Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (oauth === null) return isRemote && !hasHeader && entry["forwards_authorization"] !== true ? LOGIN : null;
  if (!isRecord(oauth)) return reader.refuse("oauth", "is not a map");
  if (!isRemote) reader.refuse("oauth", "is given, but it is a program");
  if (hasHeader) reader.refuse("oauth", "is given beside a header Authorization");
  return readOAuthMembers(reader, oauth);
}

function readOAuthMembers(reader: EntryReader, oauth: Record<string, unknown>): OAuthEntry {
  const unknown = Object.keys(oauth).find((name) => !OAUTH_MEMBERS.has(name));
  if (unknown !== undefined) reader.refuse(`oauth.${unknown}`, "is unknown");
  const clientId = reader.text(oauth, "client_id");
  const clientSecret = readClientSecret(reader, oauth);
  const grant = oauth["grant"] ?? (clientSecret === null ? "login" : "client_credentials");
  if (grant !== "login" && grant !== "client_credentials")
    return reader.refuse("oauth.grant", "is neither login nor client_credentials");
  if (clientId === null && clientSecret !== null) reader.refuse("oauth", "has a client_secret without a client_id");
  if (grant === "client_credentials" && clientSecret === null)
    reader.refuse("oauth", "needs client_id and client_secret for client_credentials");
  const issuer = reader.text(oauth, "issuer");
  if (issuer !== null && URL.parse(issuer) === null) reader.refuse("oauth.issuer", "is not a URL");
  return { grant, clientId, clientSecret, scopes: reader.texts(oauth, "scopes"), issuer };
}

function readClientSecret(reader: EntryReader, oauth: Record<string, unknown>): string | null {
  const secret = reader.text(oauth, "client_secret");
  const file = reader.text(oauth, "client_secret_file");
  if (file === null) return secret;
  if (secret !== null) reader.refuse("oauth", "has both client_secret and client_secret_file");
  try {
    return readFileSync(resolve(dirname(reader.file), file), "utf8").trim();
  } catch {
    return reader.refuse("oauth.client_secret_file", "names a file that cannot be read");
  }
}

function readAllowed(reader: EntryReader, entry: Record<string, unknown>): McpServerEntry["allowedTools"] {
  const tools = entry["allowed_tools"];
  return isRecord(tools) ? readSelection(reader, tools) : reader.texts(entry, "allowed_tools");
}

function readRequired(reader: EntryReader, entry: Record<string, unknown>): McpServerEntry["requireApproval"] {
  const approval = entry["require_approval"] ?? null;
  if (approval === null || approval === "always" || approval === "never") return approval;
  if (!isRecord(approval)) return reader.refuse("require_approval", "is neither always, never nor a map of filters");
  const { always, never } = approval;
  return {
    ...(isRecord(always) ? { always: readSelection(reader, always) } : {}),
    ...(isRecord(never) ? { never: readSelection(reader, never) } : {}),
  };
}

function readSelection(reader: EntryReader, selection: Record<string, unknown>): ToolSelection {
  const names = reader.texts(selection, "tool_names");
  const readOnly = reader.flag(selection, "read_only");
  return { ...(names === null ? {} : { tool_names: names }), ...(readOnly === null ? {} : { read_only: readOnly }) };
}

/** Reads members of one entry. Problems name the member and never its value. */
class EntryReader {
  readonly file: string;
  readonly label: string;
  readonly #environment: Environment;

  constructor(file: string, label: string, environment: Environment) {
    this.file = file;
    this.label = label;
    this.#environment = environment;
  }

  refuse(member: string, complaint: string): never {
    throw problem(this.file, `is invalid: ${member === "" ? "" : `${member} of `}server '${this.label}' ${complaint}`);
  }

  text(of: Record<string, unknown>, member: string): string | null {
    const value = of[member] ?? null;
    if (value === null) return null;
    return typeof value === "string" ? this.#fillVariables(value, member) : this.refuse(member, "is not a text");
  }

  texts(of: Record<string, unknown>, member: string): string[] | null {
    const value = of[member] ?? null;
    if (value === null) return null;
    if (!Array.isArray(value)) return this.refuse(member, "is not a list of texts");
    return value.map((one: unknown) =>
      typeof one === "string" ? this.#fillVariables(one, member) : this.refuse(member, "is not a list of texts"),
    );
  }

  textMap(of: Record<string, unknown>, member: string): Readonly<Record<string, string>> {
    const value = of[member] ?? {};
    if (!isRecord(value)) return this.refuse(member, "is not a map of texts");
    return Object.fromEntries(Object.keys(value).map((name) => [name, this.text(value, name) ?? ""]));
  }

  flag(of: Record<string, unknown>, member: string): boolean | null {
    const value = of[member] ?? null;
    return value === null || typeof value === "boolean" ? value : this.refuse(member, "is neither true nor false");
  }

  /** Replaces `${NAME}` in the text by variables of the environment. */
  #fillVariables(text: string, member: string): string {
    return text.replaceAll(VARIABLE, (_whole, name: string) => {
      return this.#environment[name] ?? this.refuse(member, `uses the variable ${name}, which is not set`);
    });
  }
}

function problem(file: string, complaint: string): ConfigError {
  return new ConfigError([`MCP_SERVERS_FILE ${file} ${complaint}.`]);
}
