import { type Owner, ownerText } from "../owner.ts";

/** What the operator says of a model. */
export interface ModelPolicy {
  /** Who may use it, as `organization` or `organization/project`; null for everybody. */
  readonly owners: readonly string[] | null;
  /**
   * Valid members of a create request, used where a request says nothing; null for none. `tools` are offered beside
   * those of the request.
   */
  readonly defaults: Readonly<Record<string, unknown>> | null;
}

/** Whether an owner is among these, which are organizations or projects; everybody is if they are null. */
export function isAmongOwners(owners: readonly string[] | null | undefined, owner: Owner): boolean {
  return owners == null || owners.includes(owner.organization) || owners.includes(ownerText(owner));
}
