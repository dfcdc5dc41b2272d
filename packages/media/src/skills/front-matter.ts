import { isRecord } from "@antiphon/base/json/records.ts";
import { isSkillName } from "@antiphon/domain/skills/mounted-skills.ts";
import { InvalidSkill } from "@antiphon/domain/skills/skills.ts";
import { parse } from "yaml";

/** SKILL.md from its beginning, with its front matter between lines of three hyphens. */
const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)/s;
const DESCRIPTION_CHARACTERS_MAX = 1024;

export interface SkillHead {
  readonly name: string;
  readonly description: string;
}

/** Reads name and description, as https://agentskills.io/specification describes them. Throws `InvalidSkill`. */
export function readFrontMatter(text: string): SkillHead {
  const [, yaml] = FRONT_MATTER.exec(text) ?? [];
  if (yaml === undefined)
    throw new InvalidSkill("SKILL.md has no front matter. It begins with YAML between two lines of '---'.");
  const members = parseYaml(yaml);
  if (!isRecord(members)) throw new InvalidSkill("The front matter of SKILL.md must be names with values.");
  const { name, description } = members;
  return checkSkillHead(
    { name, description },
    (member, rule) => `The front matter of SKILL.md needs '${member}': ${rule}.`,
  );
}

/** Throws `InvalidSkill` with the sentence of `explain`. */
export function checkSkillHead(
  { name, description }: { readonly name: unknown; readonly description: unknown },
  explain: (member: keyof SkillHead, rule: string) => string,
): SkillHead {
  if (typeof name !== "string" || !isSkillName(name)) {
    const rule = `at most 64 letters, digits, hyphens and underscores`;
    throw new InvalidSkill(explain("name", rule));
  }
  const shortDescription = typeof description === "string" ? description.trim() : "";
  if (shortDescription === "" || shortDescription.length > DESCRIPTION_CHARACTERS_MAX)
    throw new InvalidSkill(explain("description", `a text of 1 to ${DESCRIPTION_CHARACTERS_MAX} characters`));
  return { name, description: shortDescription };
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { logLevel: "error" });
  } catch (error) {
    const [line = ""] = error instanceof Error ? error.message.split("\n") : [];
    throw new InvalidSkill(`The front matter of SKILL.md is not valid YAML: ${line}`);
  }
}
