import { type Challenge, readChallenge } from "./challenge.ts";

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
/** The statuses that may come with a challenge. */
const CHALLENGING: ReadonlySet<number> = new Set([UNAUTHORIZED, FORBIDDEN]);
/** Scopes that can be quoted in a shell. */
const PLAIN_SCOPE = /^[\w:./ -]+$/;

/** Where the token of a server comes from: the request, or the operator's server of this label. */
export type TokenPlace = { readonly type: "request" } | { readonly type: "headers"; readonly label: string };

/** The server wants an access token, or one with more scopes. It did nothing. The message has no full stop. */
export class AuthorizationWanted extends Error {
  override readonly name = "AuthorizationWanted";
  readonly status: number;
  readonly challenge: Challenge;

  constructor(status: number, challenge: Challenge, message: string) {
    super(message);
    this.status = status;
    this.challenge = challenge;
  }
}

/** Whether a reply of this status may have a challenge. */
export function mayChallenge(status: number): boolean {
  return CHALLENGING.has(status);
}

/** What a reply of a server wants; null if it is no challenge for an access token. */
export function wantedAuthorization(
  { status, headers }: Pick<Response, "status" | "headers">,
  { label, place, hasToken }: { readonly label: string; readonly place: TokenPlace; readonly hasToken: boolean },
): AuthorizationWanted | null {
  const challenge = mayChallenge(status) ? readChallenge(headers.get("www-authenticate")) : null;
  if (challenge === null) return null;
  const { scope } = challenge;
  if (status === FORBIDDEN) {
    if (challenge.error !== "insufficient_scope") return null;
    const needed = scope === null ? "more scopes than its token has" : `a token with the scope '${scope}'`;
    return new AuthorizationWanted(
      status,
      challenge,
      `The MCP server '${label}' needs ${needed}. ${stepFor(place, scope)}`,
    );
  }
  const problem = hasToken ? "refuses its access token" : "needs an OAuth access token";
  return new AuthorizationWanted(status, challenge, `The MCP server '${label}' ${problem}. ${stepFor(place, null)}`);
}

/** What ends the problem, and who can do it. */
function stepFor(place: TokenPlace, scope: string | null): string {
  const withScope = scope !== null && PLAIN_SCOPE.test(scope) ? " with this scope" : "";
  switch (place.type) {
    case "request":
      return `Put a valid token${withScope} into the member authorization of the tool`;
    case "headers":
      return `Its operator can set a valid token${withScope} in the headers of '${place.label}' in MCP_SERVERS_FILE`;
  }
}
