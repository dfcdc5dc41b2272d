import type { KnownKey } from "@antiphon/domain/keys.ts";
import { OWNER_NAME, type Owner, readOwner } from "@antiphon/domain/owner.ts";

/** The owner of keys that were created without one. */
export const DEFAULT_OWNER: Owner = { organization: "default", project: "default" };

const KEY_WITH_OWNER = new RegExp(`^(.+)=(${OWNER_NAME}/${OWNER_NAME})$`);

/** The stored form of a key's owners. A key without owners gets the default owner and ignores the routing headers. */
export function ownersOf(owners: readonly Owner[]): Pick<KnownKey, "owners" | "isRouted"> {
  const [first, ...others] = owners;
  return first === undefined
    ? { owners: [DEFAULT_OWNER], isRouted: false }
    : { owners: [first, ...others], isRouted: true };
}

/** Parses an entry of API_KEYS: `key` or `key=organization/project`. */
export function readConfiguredKey(entry: string): { readonly key: string; readonly owner: Owner | null } {
  const [, key, owner] = KEY_WITH_OWNER.exec(entry) ?? [];
  return key === undefined || owner === undefined ? { key: entry, owner: null } : { key, owner: readOwner(owner) };
}
