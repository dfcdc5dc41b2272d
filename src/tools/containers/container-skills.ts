import { text } from "node:stream/consumers";
import { assertNever } from "@antiphon/base/assert.ts";
import { bytesAtMost } from "@antiphon/base/limits/bytes-at-most.ts";
import type { ContainerSkill } from "@antiphon/contracts/responses-api/types.ts";
import type { ToolScope } from "@antiphon/domain/hosted-tool.ts";
import {
  findSkills,
  isMountedManifest,
  type MountedSkill,
  type MountRefusal,
  skillFolder,
} from "@antiphon/domain/skills/mounted-skills.ts";
import { InvalidSkill, SKILL_LIMITS } from "@antiphon/domain/skills/skills.ts";
import { invalidToolsError } from "../invalid-tools-error.ts";
import type { ToldSkill } from "../told-skills.ts";
import type { CodeServices } from "./code-services.ts";
import type { ResponseContainer } from "./response-container.ts";

/** SKILL.md of a container is not read for the model if it is larger, because code may have written it. */
const MANIFEST_BYTES_MAX = 64 * 1024;

/** The skills of a request. Rejects with `ModelError` if one is unknown or broken. */
export async function requestedSkills(
  { skills }: CodeServices,
  requested: readonly ContainerSkill[],
  scope: ToolScope,
): Promise<readonly MountedSkill[]> {
  const result = await findSkills(skills, scope.owner, requested);
  if (result.type === "found") return result.skills;
  throw invalidToolsError(result.refusal.reason === "invalid_skill" ? 400 : 404, explainMount(result.refusal));
}

/** Tells of skills by the paths of their folders. */
export function toldByFolder(skills: readonly MountedSkill[]): readonly ToldSkill[] {
  return skills.map(({ name, description }) => ({ name, description, path: skillFolder(name).slice(0, -1) }));
}

/** The skills that a container already had, by what their SKILL.md says. */
export async function skillsOfContainer(
  { containers, skills: { format } }: CodeServices,
  { id, files }: ResponseContainer,
  { owner }: ToolScope,
): Promise<readonly ToldSkill[]> {
  const manifests = files.flatMap((file) =>
    file.type === "container_file" && isMountedManifest(file.path) ? [file] : [],
  );
  const reading = manifests.slice(0, SKILL_LIMITS.mountedMax).map(async ({ fileId, path }) => {
    const stream = await containers.streamFile(owner, id, fileId);
    if (stream === null || stream.file.bytes > MANIFEST_BYTES_MAX) return [];
    try {
      const content = bytesAtMost(stream.content, MANIFEST_BYTES_MAX, () => new InvalidSkill("SKILL.md is too large."));
      return [{ ...format.readHead(await text(content)), path: path.slice(0, path.lastIndexOf("/")) }];
    } catch (error) {
      if (error instanceof InvalidSkill) return []; // Code may have changed the file.
      throw error;
    }
  });
  return (await Promise.all(reading)).flat();
}

function explainMount(refusal: MountRefusal): string {
  switch (refusal.reason) {
    case "unknown_skill":
      return `Skill with id '${refusal.skillId}' not found.`;
    case "unknown_version":
      return `No version '${refusal.version}' found of skill with id '${refusal.skillId}'.`;
    case "invalid_skill":
      return refusal.message;
    default:
      return assertNever(refusal);
  }
}
