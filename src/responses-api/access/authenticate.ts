import { hashApiKey, maskApiKey } from "../../base/api-key.ts";
import type { Owner } from "../../runs/ports.ts";
import { incorrectApiKey, missingApiKey } from "../errors/request-errors.ts";
import type { KeyFinder, KnownKey, RatedKey } from "../ports.ts";
import { type RequestHeaders, routedOwner } from "./route-owner.ts";

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

/** What the log says of a caller: never the key. */
export function callerFields({ keyId, owner }: Principal): object {
  return { keyId, organization: owner.organization, project: owner.project };
}

/** The headers by which every reply says whose key it was. */
export function ownerHeaders({ owner }: Principal): Readonly<Record<string, string>> {
  return { "openai-organization": owner.organization, "openai-project": owner.project };
}
