import { createHash } from "node:crypto";
import type { ContainerSkill } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "../owner.ts";
import { InvalidSkill, type OpenSkill, type SkillFormat, type Skills } from "./skills.ts";

/** The folder of a container's skills. */
const SKILLS_FOLDER = "/mnt/data/skills/";
const MOUNTED_MANIFEST = /^\/mnt\/data\/skills\/[^/]+\/skill\.md$/i;
/** The name of a skill is also the name of its folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** A skill for a container. Its files go to `/mnt/data/skills/<name>`. */
export interface MountedSkill {
  readonly name: string;
  readonly description: string;
  /** Differs between contents: a container that has this one already keeps its files. */
  readonly contentId: string;
  /** Rejects with `InvalidSkill` if the skill was deleted meanwhile. */
  open(): Promise<OpenSkill>;
}

/** Stored skills, and how to open them. */
export interface SkillSource {
  readonly skills: Pick<Skills, "findVersion" | "findSkill" | "readArchive">;
  readonly format: Pick<SkillFormat, "open" | "readHead">;
}

/** Why a skill of a request cannot be mounted. */
export type MountRefusal =
  | { readonly reason: "unknown_skill"; readonly skillId: string }
  | { readonly reason: "unknown_version"; readonly skillId: string; readonly version: string }
  /** A whole sentence. */
  | { readonly reason: "invalid_skill"; readonly message: string };

export type FoundSkills =
  | { readonly type: "found"; readonly skills: readonly MountedSkill[] }
  | { readonly type: "refused"; readonly refusal: MountRefusal; readonly index: number };

/** With a slash at its end. */
export function skillFolder(name: string): string {
  return `${SKILLS_FOLDER}${name}/`;
}

/** Whether a container has the SKILL.md of a skill at this path. */
export function isMountedManifest(path: string): boolean {
  return MOUNTED_MANIFEST.test(path);
}

export function isSkillName(name: string): boolean {
  return NAME.test(name);
}

/** The skills of a request, checked in their order. */
export async function findSkills(
  source: SkillSource,
  owner: Owner,
  requested: readonly ContainerSkill[],
): Promise<FoundSkills> {
  const skills: MountedSkill[] = [];
  for (const [index, wanted] of requested.entries()) {
    const skill =
      wanted.type === "inline" ? await inlineSkill(source, wanted) : await storedSkill(source, owner, wanted);
    if ("reason" in skill) return { type: "refused", refusal: skill, index };
    if (skills.some(({ name }) => name === skill.name))
      return { type: "refused", refusal: invalid(`Two skills are called '${skill.name}'.`), index };
    skills.push(skill);
  }
  return { type: "found", skills };
}

async function storedSkill(
  { skills, format }: SkillSource,
  owner: Owner,
  { skill_id: skillId, version: requestedVersion }: Extract<ContainerSkill, { type: "skill_reference" }>,
): Promise<MountedSkill | MountRefusal> {
  const version = requestedVersion ?? null;
  const match = await skills.findVersion(owner, skillId, version);
  if (match === null) {
    const isKnown = version !== null && (await skills.findSkill(owner, skillId)) !== null;
    return isKnown ? { reason: "unknown_version", skillId, version } : { reason: "unknown_skill", skillId };
  }
  const { id: contentId, name, description } = match;
  const open = async (): Promise<OpenSkill> => {
    const archive = await skills.readArchive(owner, contentId);
    if (archive === null) throw new InvalidSkill(`The skill '${name}' was deleted.`);
    return await format.open(archive);
  };
  return { name, description, contentId, open };
}

async function inlineSkill(
  { format }: SkillSource,
  { name, description, source }: Extract<ContainerSkill, { type: "inline" }>,
): Promise<MountedSkill | MountRefusal> {
  if (!isSkillName(name))
    return invalid("The name of a skill has at most 64 letters, digits, hyphens and underscores.");
  const archive = Buffer.from(source.data, "base64");
  try {
    await format.open(archive);
  } catch (error) {
    if (error instanceof InvalidSkill) return invalid(error.message);
    throw error;
  }
  const contentId = `inline-${createHash("sha256").update(archive).digest("hex")}`;
  return { name, description, contentId, open: () => format.open(archive) };
}

function invalid(message: string): MountRefusal {
  return { reason: "invalid_skill", message };
}
