import type { ContainerRefusal } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type MountedSkill, skillFolder } from "@antiphon/domain/skills/mounted-skills.ts";
import type { Kysely } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { ContainerFileWriter } from "./container-file-writer.ts";
import { filesOf } from "./container-rows.ts";

interface Place {
  readonly owner: Owner;
  readonly containerId: string;
  readonly writer: ContainerFileWriter;
}

/**
 * Writes the files of a skill, and removes those of another content. SKILL.md comes last: where it is, the skill is
 * complete, and is left as it is. Resolves to null, or to why a file could not be written.
 */
export async function mountSkill(
  db: Kysely<Database>,
  { owner, containerId, writer }: Place,
  mounted: MountedSkill,
  signal: AbortSignal | undefined,
): Promise<ContainerRefusal | null> {
  const { name, contentId } = mounted;
  const folder = skillFolder(name);
  const rows = await filesOf(db, owner, containerId).select(["id", "path", "upload_id"]).execute();
  const files = rows.filter(({ path }) => path.startsWith(folder));
  const isManifest = (path: string): boolean => path.toLowerCase() === `${folder}skill.md`.toLowerCase();
  if (files.some(({ path, upload_id: id }) => isManifest(path) && id === contentId)) return null;
  for (const { id } of files) await writer.remove(owner, containerId, id);
  const skill = await mounted.open();
  const others = skill.files.filter(({ path }) => path !== skill.manifest);
  for (const { path } of [...others, { path: skill.manifest }]) {
    const file = { path: folder + path, content: skill.read(path), source: "user", uploadId: contentId } as const;
    const change = await writer.write(owner, containerId, file, signal);
    if (change.type === "refused") return change.refusal;
  }
  return null;
}
