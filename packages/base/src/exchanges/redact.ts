/** Replaces potential secrets. */
export const REDACTED = "[redacted]";

/** The headers whose values are stored. All others could be secret. */
const KEPT: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "age",
  "cache-control",
  "connection",
  "content-encoding",
  "content-language",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "openai-processing-ms",
  "openai-version",
  "retry-after",
  "server",
  "traceparent",
  "transfer-encoding",
  "user-agent",
  "vary",
  "via",
  "x-request-id",
]);
const KEPT_FAMILY = /^x-ratelimit-/;
/** Parts of a path with at least this many characters may be keys. */
const KEY_CHARACTERS_MIN = 16;
/** Shorter values are not searched for in texts. */
export const SECRET_CHARACTERS_MIN = 6;
const BASIC = /^basic\s+(\S+)$/i;

/** Headers by name in lower case, and the redacted values. */
export interface RedactedHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

export function redactHeaders(headers: Iterable<readonly [string, string]>): RedactedHeaders {
  const visibleHeaders: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const isKept = KEPT.has(key) || KEPT_FAMILY.test(key);
    visibleHeaders[key] = isKept ? value : REDACTED;
    if (!isKept) secrets.push(value, ...value.split(/[\s;,=]+/), ...passwordOf(value));
  }
  return { headers: visibleHeaders, secrets: secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN) };
}

/** The user and password of Basic authentication, and the password alone: the server can read them in plain text. */
function passwordOf(header: string): readonly string[] {
  const [, credentials] = BASIC.exec(header.trim()) ?? [];
  if (credentials === undefined) return [];
  const pair = Buffer.from(credentials, "base64").toString("utf8");
  return [pair, pair.slice(pair.indexOf(":") + 1)];
}

/** The secrets in their forms in texts, in JSON and in addresses, without duplicates. */
export function writtenForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
  ]);
  return [...new Set(forms)];
}

/** An address without user, password, query values, and path parts that look like keys. */
export function redactUrl(address: string): { readonly text: string; readonly secrets: readonly string[] } {
  const url = URL.parse(address);
  if (url === null) return { text: REDACTED, secrets: [] };
  const secrets = [url.username, url.password, ...url.searchParams.values()];
  const path = url.pathname.split("/").map((part) => {
    if (part.length < KEY_CHARACTERS_MIN || !/\d/.test(part)) return part;
    secrets.push(part);
    return REDACTED;
  });
  const query = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=${REDACTED}`).join("&");
  const text = `${url.protocol}//${url.host}${path.join("/")}${query === "" ? "" : `?${query}`}`;
  return { text, secrets: secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN) };
}

/** Longest first, so that none leaves a part of another. */
export function redactText(text: string, secrets: readonly string[]): string {
  return secrets
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
}
