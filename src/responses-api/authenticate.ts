import { hashApiKey, maskApiKey } from "../base/api-key.ts";
import type { Owner } from "../runs/ports.ts";
import { incorrectApiKey, missingApiKey } from "./errors/request-errors.ts";

/** Whose request it is. */
export interface Principal {
  readonly keyId: string;
  readonly owner: Owner;
}

/** Finds a key by its hash. Keys themselves are never kept. */
export interface KeyFinder {
  findByHash(hash: string): Promise<{ readonly id: string; readonly owner: Owner } | null>;
}

/** How many keys' owners are remembered between requests. */
const REMEMBERED_KEYS_MAX = 1024;

/** Reads `Authorization: Bearer KEY`; throws the reference's 401 for a missing or a wrong key. */
export function createAuthenticator(keys: KeyFinder): (authorization: string | undefined) => Promise<Principal> {
  const remembered = new Map<string, Principal>();
  return async (authorization) => {
    const key = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    if (key === undefined) throw missingApiKey();
    const hash = hashApiKey(key);
    const known = remembered.get(hash) ?? (await look(keys, hash));
    if (known === null) throw incorrectApiKey(maskApiKey(key));
    if (remembered.size >= REMEMBERED_KEYS_MAX) remembered.clear();
    remembered.set(hash, known);
    return known;
  };
}

async function look(keys: KeyFinder, hash: string): Promise<Principal | null> {
  const found = await keys.findByHash(hash);
  return found === null ? null : { keyId: found.id, owner: found.owner };
}
