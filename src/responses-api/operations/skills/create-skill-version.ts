import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { refusingInvalid, skillNotFound, skillRefused } from "../../errors/skill-errors.ts";
import type { SkillContext } from "./create-skill.ts";

/** `POST /v1/skills/{skill_id}/versions`: like a new skill, whose number follows that of the latest version. */
export function createSkillVersion({
  skills,
  format,
}: SkillContext): ResponsesApiHandlers<Caller>["createSkillVersion"] {
  return async ({ path: { skill_id: id }, body }, { principal: { owner }, signal }) => {
    if ((await skills.findSkill(owner, id)) === null) throw skillNotFound(id);
    const bundle = await refusingInvalid("files", () => format.pack(body.files, signal));
    const creation = await skills.addVersion(owner, id, { ...bundle, isDefault: body.default ?? false });
    if (creation.type === "refused") throw skillRefused(creation.refusal, id, "");
    return { status: 200, body: creation.result };
  };
}
