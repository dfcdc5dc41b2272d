import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { createSkill, type SkillContext } from "../../responses-api/operations/skills/create-skill.ts";
import { createSkillVersion } from "../../responses-api/operations/skills/create-skill-version.ts";
import { deleteSkill } from "../../responses-api/operations/skills/delete-skill.ts";
import { deleteSkillVersion } from "../../responses-api/operations/skills/delete-skill-version.ts";
import { downloadSkill } from "../../responses-api/operations/skills/download-skill.ts";
import { downloadSkillVersion } from "../../responses-api/operations/skills/download-skill-version.ts";
import { getSkill } from "../../responses-api/operations/skills/get-skill.ts";
import { getSkillVersion } from "../../responses-api/operations/skills/get-skill-version.ts";
import { listSkillVersions } from "../../responses-api/operations/skills/list-skill-versions.ts";
import { listSkills } from "../../responses-api/operations/skills/list-skills.ts";
import { updateSkill } from "../../responses-api/operations/skills/update-skill.ts";

type SkillOperation =
  | "createSkill"
  | "createSkillVersion"
  | "deleteSkill"
  | "deleteSkillVersion"
  | "downloadSkill"
  | "downloadSkillVersion"
  | "getSkill"
  | "getSkillVersion"
  | "listSkills"
  | "listSkillVersions"
  | "updateSkill";

/** The operations on skills and their versions. */
export function skillHandlers(context: SkillContext): Pick<ResponsesApiHandlers<Caller>, SkillOperation> {
  const { skills } = context;
  return {
    createSkill: createSkill(context),
    createSkillVersion: createSkillVersion(context),
    deleteSkill: deleteSkill(skills),
    deleteSkillVersion: deleteSkillVersion(skills),
    downloadSkill: downloadSkill(skills),
    downloadSkillVersion: downloadSkillVersion(skills),
    getSkill: getSkill(skills),
    getSkillVersion: getSkillVersion(skills),
    listSkills: listSkills(skills),
    listSkillVersions: listSkillVersions(skills),
    updateSkill: updateSkill(skills),
  };
}
