import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { findShownVersion } from "./find-shown-version.ts";

/** `GET /v1/skills/{skill_id}/versions/{version}`. */
export function getSkillVersion(skills: Skills): ResponsesApiHandlers<Caller>["getSkillVersion"] {
  return async ({ path: { skill_id: id, version } }, { principal: { owner } }) => {
    return { status: 200, body: await findShownVersion(skills, owner, { id, version }) };
  };
}
