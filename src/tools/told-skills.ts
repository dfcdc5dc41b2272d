/** A skill as a model hears of it. */
export interface ToldSkill {
  readonly name: string;
  readonly description: string;
  /** The folder, or SKILL.md in it. */
  readonly path: string;
}

/** The end of a tool's description: the skills that the model can read by commands. Empty if there are none. */
export function toldSkills(skills: readonly ToldSkill[]): string {
  if (skills.length === 0) return "";
  const lines = skills.map(({ name, description, path }) => `- ${name} (${path}): ${description}`);
  return ` Skills are folders with instructions; read one before you do what it is for:\n${lines.join("\n")}`;
}
