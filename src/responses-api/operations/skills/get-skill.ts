import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { skillNotFound } from "../../errors/skill-errors.ts";

/** `GET /v1/skills/{skill_id}`. */
export function getSkill(skills: Skills): ResponsesApiHandlers<Caller>["getSkill"] {
  return async ({ path: { skill_id: id } }, { principal: { owner } }) => {
    const skill = await skills.findSkill(owner, id);
    if (skill === null) throw skillNotFound(id);
    return { status: 200, body: skill };
  };
}
