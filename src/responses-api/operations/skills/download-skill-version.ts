import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { showArchive } from "../../show/show-archive.ts";
import { findShownVersion } from "./find-shown-version.ts";

/** `GET /v1/skills/{skill_id}/versions/{version}/content`. */
export function downloadSkillVersion(skills: Skills): ResponsesApiHandlers<Caller>["downloadSkillVersion"] {
  return async ({ path: { skill_id: id, version } }, { principal: { owner } }) => {
    return await showArchive(skills, owner, await findShownVersion(skills, owner, { id, version }));
  };
}
