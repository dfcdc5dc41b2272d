type DefinedMembers<Members> = { [Name in keyof Members]?: NonNullable<Members[Name]> };

/** Without members that are null or undefined. */
export function definedMembers<Members extends object>(members: Members): DefinedMembers<Members> {
  const copy: DefinedMembers<Members> = {};
  for (const name in members) {
    const value = members[name];
    if (value != null) copy[name] = value;
  }
  return copy;
}
