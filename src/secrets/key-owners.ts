import type { KnownKey } from "../responses-api/ports.ts";
import type { Owner } from "../runs/ports.ts";

/** For whom a key acts that was made for nobody in particular. */
export const DEFAULT_OWNER: Owner = { organization: "default", project: "default" };

/** Names stand in headers and on command lines. */
const NAME = "[A-Za-z0-9_.-]{1,64}";
const OWNER = new RegExp(`^(${NAME})/(${NAME})$`);
const KEY_WITH_OWNER = new RegExp(`^(.+)=(${NAME}/${NAME})$`);

/** Reads `organization/project`; null if it is not that. */
export function readOwner(text: string): Owner | null {
  const [, organization, project] = OWNER.exec(text) ?? [];
  return organization === undefined || project === undefined ? null : { organization, project };
}

export function ownerText({ organization, project }: Owner): string {
  return `${organization}/${project}`;
}

/** A key's owners, as they are kept, from those that were named for it. */
export function ownersOf(named: readonly Owner[]): Pick<KnownKey, "owners" | "isRouted"> {
  const [first, ...others] = named;
  return first === undefined
    ? { owners: [DEFAULT_OWNER], isRouted: false }
    : { owners: [first, ...others], isRouted: true };
}

/** The key and, if one was written, the owner of an entry `key` or `key=organization/project` of API_KEYS. */
export function readConfiguredKey(entry: string): { readonly key: string; readonly owner: Owner | null } {
  const [, key, owner] = KEY_WITH_OWNER.exec(entry) ?? [];
  return key === undefined || owner === undefined ? { key: entry, owner: null } : { key, owner: readOwner(owner) };
}
