import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { skillRefused } from "../../errors/skill-errors.ts";

/** `POST /v1/skills/{skill_id}`: changes the version that references without one mean. */
export function updateSkill(skills: Skills): ResponsesApiHandlers<Caller>["updateSkill"] {
  return async ({ path: { skill_id: id }, body: { default_version: version } }, { principal: { owner } }) => {
    const change = await skills.changeDefault(owner, id, version);
    if (change.type === "refused") throw skillRefused(change.refusal, id, version);
    return { status: 200, body: change.result };
  };
}
