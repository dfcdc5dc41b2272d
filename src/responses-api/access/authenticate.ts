import { hashApiKey, maskApiKey } from "../../base/api-key.ts";
import type { Owner } from "../../runs/ports.ts";
import { incorrectApiKey, mismatchedOrganization, mismatchedProject, missingApiKey } from "../errors/request-errors.ts";
import type { KeyFinder, KnownKey, RatedKey } from "../ports.ts";

/** Whose request it is. */
export interface Principal extends RatedKey {
  readonly owner: Owner;
}

export type Authenticator = (headers: RequestHeaders) => Promise<Principal>;

/** How many keys are remembered between requests. */
const REMEMBERED_KEYS_MAX = 1024;
/** How long a key is remembered, and so how long one goes on working after it was revoked. */
export const REVOKED_KEY_LIVES_MS = 2_000;

interface Remembered {
  readonly key: KnownKey;
  readonly until: number;
}

/**
 * Reads `Authorization: Bearer KEY` and the routing headers; throws the reference's 401 for a missing or a wrong key,
 * and for an owner that the key may not act for.
 */
export function createAuthenticator(keys: KeyFinder): Authenticator {
  const remembered = new Map<string, Remembered>();
  const find = async (hash: string): Promise<KnownKey | null> => {
    const known = remembered.get(hash);
    if (known !== undefined && performance.now() < known.until) return known.key;
    remembered.delete(hash);
    const key = await keys.findByHash(hash);
    if (key === null) return null;
    if (remembered.size >= REMEMBERED_KEYS_MAX) remembered.clear();
    remembered.set(hash, { key, until: performance.now() + REVOKED_KEY_LIVES_MS });
    return key;
  };
  return async (headers) => {
    const secret = /^Bearer +(\S+) *$/i.exec(String(headers["authorization"] ?? ""))?.[1];
    if (secret === undefined) throw missingApiKey();
    const key = await find(hashApiKey(secret));
    if (key === null) throw incorrectApiKey(maskApiKey(secret));
    return { keyId: key.id, owner: routedOwner(key, headers), limits: key.limits };
  };
}

/** Headers of a request, by their names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The first of a key's owners that the routing headers name. Throws the reference's 401 for one that the key may not
 * act for.
 */
function routedOwner({ owners, isRouted }: KnownKey, headers: RequestHeaders): Owner {
  if (!isRouted) return owners[0];
  const organization = named(headers, "organization");
  const ofOrganization = owners.filter((owner) => organization === null || owner.organization === organization);
  if (ofOrganization.length === 0) throw mismatchedOrganization();
  const project = named(headers, "project");
  const found = ofOrganization.find((owner) => project === null || owner.project === project);
  if (found === undefined) throw mismatchedProject();
  return found;
}

/** The reference's own header wins over the one that means the same. An empty one is as good as none. */
function named(headers: RequestHeaders, what: "organization" | "project"): string | null {
  const value = [headers[`openai-${what}`], headers[`provider-${what}`]].find(
    (sent) => sent !== undefined && sent !== "",
  );
  return value === undefined ? null : String(value);
}

/** What the log says of a caller: never the key. */
export function callerFields({ keyId, owner }: Principal): object {
  return { keyId, organization: owner.organization, project: owner.project };
}

/** The headers by which every reply says whose key it was. */
export function ownerHeaders({ owner }: Principal): Readonly<Record<string, string>> {
  return { "openai-organization": owner.organization, "openai-project": owner.project };
}
