import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { skillRefused } from "../../errors/skill-errors.ts";

/** `DELETE /v1/skills/{skill_id}/versions/{version}`. The last version takes its skill with it. */
export function deleteSkillVersion(skills: Skills): ResponsesApiHandlers<Caller>["deleteSkillVersion"] {
  return async ({ path: { skill_id: skillId, version } }, { principal: { owner } }) => {
    const deletion = await skills.deleteVersion(owner, skillId, version);
    if (deletion.type === "refused") throw skillRefused(deletion.refusal, skillId, version);
    const { id, version: number } = deletion.result;
    return { status: 200, body: { id, object: "skill.version.deleted", deleted: true, version: number } };
  };
}
