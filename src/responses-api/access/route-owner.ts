import type { Owner } from "../../runs/ports.ts";
import { mismatchedOrganization, mismatchedProject } from "../errors/request-errors.ts";
import type { KnownKey } from "../ports.ts";

/** Headers of a request, by their names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The first of a key's owners that the routing headers name. Throws the reference's 401 for one that the key may not
 * act for.
 */
export function routedOwner({ owners, isRouted }: KnownKey, headers: RequestHeaders): Owner {
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
