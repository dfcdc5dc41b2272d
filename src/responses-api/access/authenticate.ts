import { hashApiKey, maskApiKey } from "@antiphon/base/api-key.ts";
import type { KeyBudget, KeyFinder, KnownKey } from "@antiphon/domain/keys.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { RatedKey } from "@antiphon/domain/rates.ts";
import { incorrectApiKey, mismatchedOrganization, mismatchedProject, missingApiKey } from "../errors/request-errors.ts";

/** The calling API key, and the owner that it acts for. */
export interface Principal extends RatedKey {
  readonly owner: Owner;
  /** The kinds of this server's tools that the key may use; null or absent allows all. */
  readonly tools?: readonly string[] | null;
  /** The name that people gave the key, if any. */
  readonly keyName?: string | null;
  /** Whether the key may see usage and change keys; false if absent. */
  readonly isOperator?: boolean;
  /** Null or absent: no budget. */
  readonly budget?: KeyBudget | null;
}

/** The principal of operations that need no key. */
export const ANYONE: Principal = {
  keyId: "",
  owner: { organization: "", project: "" },
  limits: { requests: null, tokens: null },
};

export type Authenticator = (headers: RequestHeaders) => Promise<Principal>;

/**
 * Reads `Authorization: Bearer KEY`, or `x-api-key: KEY` without it, and the routing headers. Throws the reference's
 * 401 error for a missing or wrong key, and for an owner that the key may not act for.
 */
export function createAuthenticator(keys: KeyFinder): Authenticator {
  return async (headers) => {
    const secret = apiKeyIn(headers);
    if (secret === undefined) throw missingApiKey();
    const key = await keys.findByHash(hashApiKey(secret));
    if (key === null) throw incorrectApiKey(maskApiKey(secret));
    return principalOf(key, headers);
  };
}

/** The key of a request; undefined if it has none. */
export function apiKeyIn(headers: RequestHeaders): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(String(headers["authorization"] ?? ""))?.[1] ?? keyInOwnHeader(headers);
}

/** Who calls with a key. Throws the reference's 401 error for an owner that the key may not act for. */
export function principalOf(key: KnownKey, headers: RequestHeaders): Principal {
  return {
    keyId: key.id,
    owner: routedOwner(key, headers),
    limits: key.limits,
    tools: key.tools ?? null,
    keyName: key.name ?? null,
    isOperator: key.isOperator ?? false,
    budget: key.budget ?? null,
  };
}

/** The key of clients that send it as Anthropic's do. */
function keyInOwnHeader({ "x-api-key": key }: RequestHeaders): string | undefined {
  return typeof key === "string" && /^\S+$/.test(key) ? key : undefined;
}

/** The headers of a request, by name in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The first of the key's owners that matches the routing headers. Throws the reference's 401 error if none does. */
function routedOwner({ owners, isRouted }: KnownKey, headers: RequestHeaders): Owner {
  if (!isRouted) return owners[0];
  const organization = routingHeader(headers, "organization");
  const ofOrganization = owners.filter((owner) => organization === null || owner.organization === organization);
  if (ofOrganization.length === 0) throw mismatchedOrganization();
  const project = routingHeader(headers, "project");
  const match = ofOrganization.find((owner) => project === null || owner.project === project);
  if (match === undefined) throw mismatchedProject();
  return match;
}

/** Reads `openai-…`, or its alias `provider-…` if that is absent. An empty header counts as absent. */
function routingHeader(headers: RequestHeaders, what: "organization" | "project"): string | null {
  const value = [headers[`openai-${what}`], headers[`provider-${what}`]].find(
    (header) => header !== undefined && header !== "",
  );
  return value === undefined ? null : String(value);
}

/** The log fields of a caller. They never contain the key itself. */
export function callerFields({ keyId, owner }: Principal): object {
  return { keyId, organization: owner.organization, project: owner.project };
}

/** The reply headers with the owner of the key. */
export function ownerHeaders({ owner }: Principal): Readonly<Record<string, string>> {
  return { "openai-organization": owner.organization, "openai-project": owner.project };
}
