import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { showArchive } from "../../show/show-archive.ts";
import { findShownVersion } from "./find-shown-version.ts";

/** `GET /v1/skills/{skill_id}/content`: the files of the default version. */
export function downloadSkill(skills: Skills): ResponsesApiHandlers<Caller>["downloadSkill"] {
  return async ({ path: { skill_id: id } }, { principal: { owner } }) => {
    return await showArchive(skills, owner, await findShownVersion(skills, owner, { id, version: null }));
  };
}
