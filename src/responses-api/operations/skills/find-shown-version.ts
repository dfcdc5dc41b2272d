import type { SkillVersion } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import { skillNotFound, skillVersionNotFound } from "../../errors/skill-errors.ts";

/** `version`: as `findVersion` takes it. Throws an `ApiError` if the skill or its version is unknown. */
export async function findShownVersion(
  skills: Skills,
  owner: Owner,
  { id, version }: { readonly id: string; readonly version: string | null },
): Promise<SkillVersion> {
  const match = await skills.findVersion(owner, id, version);
  if (match !== null) return match;
  if (version === null || (await skills.findSkill(owner, id)) === null) throw skillNotFound(id);
  throw skillVersionNotFound(id, version);
}
