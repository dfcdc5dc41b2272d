import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { skillNotFound } from "../../errors/skill-errors.ts";

/** `DELETE /v1/skills/{skill_id}`: removes a skill with all its versions. */
export function deleteSkill(skills: Skills): ResponsesApiHandlers<Caller>["deleteSkill"] {
  return async ({ path: { skill_id: id } }, { principal: { owner } }) => {
    if (!(await skills.deleteSkill(owner, id))) throw skillNotFound(id);
    return { status: 200, body: { id, object: "skill.deleted", deleted: true } };
  };
}
