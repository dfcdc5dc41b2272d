/** What a `WWW-Authenticate` header says about the wanted token (RFC 6750, RFC 9728). */
export interface Challenge {
  /** The address of the server's resource metadata, unchecked. */
  readonly resourceMetadata: string | null;
  /** The wanted scopes, separated by spaces. */
  readonly scope: string | null;
  /** Such as `invalid_token` or `insufficient_scope`. */
  readonly error: string | null;
}

const HEADER_CHARACTERS_MAX = 4096;
const SCOPE_CHARACTERS_MAX = 200;
/** The challenge for a bearer token, to the end of the header or the scheme of the next challenge. */
const BEARER = /(?:^|,)\s*Bearer\b(?!\s*=)(.*)$/is;
const PARAMETER = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;
/** The characters of scopes, with the spaces between them. */
const SCOPE = /^[\u0020\u0021\u0023-\u005b\u005d-\u007e]+$/;

/** Reads the header; null if it has no challenge for a bearer token. */
export function readChallenge(header: string | null): Challenge | null {
  const [, rest] = BEARER.exec((header ?? "").slice(0, HEADER_CHARACTERS_MAX)) ?? [];
  if (rest === undefined) return null;
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, bare] of rest.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted?.replaceAll(/\\(.)/g, "$1") ?? bare ?? "");
  }
  const scope = parameters.get("scope")?.trim() ?? "";
  const isScope = SCOPE.test(scope) && scope.length <= SCOPE_CHARACTERS_MAX;
  return {
    resourceMetadata: parameters.get("resource_metadata") ?? null,
    scope: isScope ? scope : null,
    error: parameters.get("error") ?? null,
  };
}
