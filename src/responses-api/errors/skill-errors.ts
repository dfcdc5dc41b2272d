import type { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import type { MountRefusal } from "@antiphon/domain/skills/mounted-skills.ts";
import { InvalidSkill, type SkillRefusal } from "@antiphon/domain/skills/skills.ts";
import { quotaReached } from "./container-errors.ts";
import { invalidRequest } from "./invalid-request.ts";

/** Deleted skills, and skills of other owners, get the same error. `param`: the member that names it, if any. */
export function skillNotFound(id: string, param: string | null = null): ApiError {
  return invalidRequest(404, null, param, `Skill with id '${id}' not found.`);
}

export function skillVersionNotFound(id: string, version: string, param: string | null = null): ApiError {
  return invalidRequest(404, null, param, `No version '${version}' found of skill with id '${id}'.`);
}

/** The error when skills cannot be changed. */
export function skillRefused(refusal: SkillRefusal, id: string, version: string): ApiError {
  switch (refusal.reason) {
    case "unknown_skill":
      return skillNotFound(id);
    case "unknown_version":
      return skillVersionNotFound(id, version);
    case "default_version":
      return invalidRequest(
        400,
        null,
        null,
        `Version ${version} is the default version of skill '${id}'. Make another version the default first.`,
      );
    case "too_many_versions":
      return quotaReached(`A skill may have at most ${refusal.versionsMax} versions. Delete some.`);
    case "too_many_skills":
      return quotaReached(`This project may have at most ${refusal.skillsMax} skills. Delete some.`);
    default:
      return assertNever(refusal);
  }
}

/** The error when a container cannot have a skill. `param`: the member that names it. */
export function skillNotMounted(refusal: MountRefusal, param: string): ApiError {
  switch (refusal.reason) {
    case "unknown_skill":
      return skillNotFound(refusal.skillId, param);
    case "unknown_version":
      return skillVersionNotFound(refusal.skillId, refusal.version, param);
    case "invalid_skill":
      return invalidRequest(400, null, param, refusal.message);
    default:
      return assertNever(refusal);
  }
}

/** Translates `InvalidSkill` of `work` into a 400 for `param`. */
export async function refusingInvalid<Result>(param: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidSkill) throw invalidRequest(400, null, param, error.message);
    throw error;
  }
}
