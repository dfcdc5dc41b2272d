/**
 * The organization and project that stored data belongs to. Every query names it; another owner's id counts as unknown.
 */
export interface Owner {
  readonly organization: string;
  readonly project: string;
}

/** Safe in headers and on command lines. */
export const OWNER_NAME = "[A-Za-z0-9_.-]{1,64}";
const OWNER = new RegExp(`^(${OWNER_NAME})/(${OWNER_NAME})$`);

/** Parses `organization/project`; null if the text has another form. */
export function readOwner(text: string): Owner | null {
  const [, organization, project] = OWNER.exec(text) ?? [];
  return organization === undefined || project === undefined ? null : { organization, project };
}

/** The form that `readOwner` reads. */
export function ownerText({ organization, project }: Owner): string {
  return `${organization}/${project}`;
}
