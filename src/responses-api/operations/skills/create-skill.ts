import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { SkillFormat, Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { refusingInvalid, skillRefused } from "../../errors/skill-errors.ts";

export interface SkillContext {
  readonly skills: Skills;
  readonly format: SkillFormat;
}

/** `POST /v1/skills`: stores a zip archive, or packs files into one. `checkSkillUpload` has checked the parts. */
export function createSkill({ skills, format }: SkillContext): ResponsesApiHandlers<Caller>["createSkill"] {
  return async ({ body: { files } }, { principal: { owner }, signal }) => {
    const bundle = await refusingInvalid("files", () => format.pack(files, signal));
    const creation = await skills.createSkill(owner, bundle);
    if (creation.type === "refused") throw skillRefused(creation.refusal, "", "");
    return { status: 200, body: creation.result };
  };
}
