import type { SkillVersion } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import { skillVersionNotFound } from "../errors/skill-errors.ts";
import { attachment } from "./attachment.ts";

/** The zip archive of a version, as an attachment. Throws an `ApiError` if the version was deleted meanwhile. */
export async function showArchive(
  skills: Skills,
  owner: Owner,
  { id, skill_id: skillId, name, version }: SkillVersion,
) {
  const bytes = await skills.readArchive(owner, id);
  if (bytes === null) throw skillVersionNotFound(skillId, version);
  return {
    status: 200,
    headers: { "content-disposition": attachment(`${name}.zip`) },
    contentType: "application/zip",
    bytes,
  } as const;
}
