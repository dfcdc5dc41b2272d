import { assertNever } from "@antiphon/base/assert.ts";
import type { AuthorizationFailed } from "./authorization-failed.ts";
import { type Challenge, readChallenge } from "./challenge.ts";
import type { TokenPlace } from "./token-place.ts";

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
/** The statuses that may come with a challenge. */
const CHALLENGING: ReadonlySet<number> = new Set([UNAUTHORIZED, FORBIDDEN]);
/** Scopes that can be quoted in a shell. */
const PLAIN_SCOPE = /^[\w:./ -]+$/;
const NO_CHALLENGE: Challenge = { resourceMetadata: null, scope: null, error: null };

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

  /** The call was not made: the operator's token cannot be had. */
  static withoutToken(label: string, place: TokenPlace, { message }: AuthorizationFailed): AuthorizationWanted {
    const problem = `The MCP server '${label}' needs an OAuth access token, and there is none: ${message}`;
    return new AuthorizationWanted(UNAUTHORIZED, NO_CHALLENGE, `${problem}. ${stepFor(place, null)}`);
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
    const message = `The MCP server '${label}' needs ${needed}. ${stepFor(place, scope)}`;
    return new AuthorizationWanted(status, challenge, message);
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
    case "oauth":
      return place.settings.grant === "login"
        ? `Its operator can log in: antiphon mcp login ${place.label}${scopeOption(scope)}`
        : `Its operator can correct oauth of '${place.label}' in MCP_SERVERS_FILE`;
    default:
      return assertNever(place);
  }
}

function scopeOption(scope: string | null): string {
  return scope !== null && PLAIN_SCOPE.test(scope) ? ` --scope '${scope}'` : "";
}
