import type { KnownKey } from "@antiphon/domain/keys.ts";
import type { Owner } from "@antiphon/domain/owner.ts";

/** The owner of keys that were created without one. */
export const DEFAULT_OWNER: Owner = { organization: "default", project: "default" };

/** Safe in headers and on command lines. */
const NAME = "[A-Za-z0-9_.-]{1,64}";
const OWNER = new RegExp(`^(${NAME})/(${NAME})$`);
const KEY_WITH_OWNER = new RegExp(`^(.+)=(${NAME}/${NAME})$`);

/** Parses `organization/project`; null if the text has another form. */
export function readOwner(text: string): Owner | null {
  const [, organization, project] = OWNER.exec(text) ?? [];
  return organization === undefined || project === undefined ? null : { organization, project };
}

export function ownerText({ organization, project }: Owner): string {
  return `${organization}/${project}`;
}

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
