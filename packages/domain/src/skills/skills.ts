import type { Skill, SkillVersion } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "../owner.ts";
import type { PageRequest } from "../responses.ts";
import type { ListPage } from "../vector-stores.ts";

const MEBIBYTE = 1024 ** 2;

/** The limits of skills. All but the last three are of one version. */
export const SKILL_LIMITS = {
  filesMax: 500,
  /** Of the zip archive. */
  archiveBytesMax: 50 * MEBIBYTE,
  fileBytesMax: 25 * MEBIBYTE,
  /** Of all files, unpacked. */
  unpackedBytesMax: 100 * MEBIBYTE,
  /** The maximum versions of a skill. */
  versionsMax: 100,
  /** The maximum skills of an owner. */
  skillsMax: 1_000,
  /** The maximum skills of a container. */
  mountedMax: 200,
} as const;

/** The newest version, where a version is named. */
export const LATEST_VERSION = "latest";

/** The files of a skill as a zip archive that was checked, with what SKILL.md says of itself. */
export interface SkillBundle {
  readonly name: string;
  readonly description: string;
  readonly archive: Uint8Array;
}

/** Files are no skill. The message is a sentence for the client that names the fault. */
export class InvalidSkill extends Error {
  override readonly name = "InvalidSkill";
}

/** A file that a client uploads. */
export interface FileToPack {
  /** With its folders. */
  readonly path: string;
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** A file of a skill. */
export interface SkillFile {
  /** Relative to the folder of SKILL.md. */
  readonly path: string;
  readonly bytes: number;
}

/** The files of an archive. They are unpacked one at a time. */
export interface OpenSkill {
  readonly head: Omit<SkillBundle, "archive">;
  /** SKILL.md, as it is written here. */
  readonly manifest: string;
  readonly files: readonly SkillFile[];
  /** Yields the content of a file. Throws `InvalidSkill` if it cannot be unpacked. */
  read(path: string): AsyncIterable<Uint8Array>;
}

/** Packs and opens skills within `SKILL_LIMITS`. They reject with `InvalidSkill`. */
export interface SkillFormat {
  /** Takes an archive as the only file, or packs the files. Unpacks every file to check it. */
  pack(files: readonly FileToPack[], signal: AbortSignal): Promise<SkillBundle>;
  /** Checks names and sizes. */
  open(archive: Uint8Array): Promise<OpenSkill>;
  /** Reads the front matter of SKILL.md. Throws `InvalidSkill`. */
  readHead(manifest: string): Omit<SkillBundle, "archive">;
}

/** Why skills were not changed. */
export type SkillRefusal =
  | { readonly reason: "unknown_skill" }
  | { readonly reason: "unknown_version" }
  /** The default version has other versions beside it. */
  | { readonly reason: "default_version" }
  | { readonly reason: "too_many_versions"; readonly versionsMax: number }
  | { readonly reason: "too_many_skills"; readonly skillsMax: number };

export type SkillChange<Result> =
  | { readonly type: "changed"; readonly result: Result }
  | { readonly type: "refused"; readonly refusal: SkillRefusal };

export interface NewSkillVersion extends SkillBundle {
  /** Whether it becomes the default version. */
  readonly isDefault: boolean;
}

/**
 * Stored skills and their versions, which never change. Unknown ids and ids of other owners give `null`, `false` or a
 * refusal. Creating rejects with `StorageQuotaExceeded` if the owner's storage is full.
 */
export interface Skills {
  /** With version 1, which is the default. */
  createSkill(owner: Owner, bundle: SkillBundle): Promise<SkillChange<Skill>>;
  findSkill(owner: Owner, skillId: string): Promise<Skill | null>;
  /** In the order of their creation; null if the cursor is unknown. */
  listSkills(owner: Owner, page: PageRequest): Promise<ListPage<Skill> | null>;
  changeDefault(owner: Owner, skillId: string, version: string): Promise<SkillChange<Skill>>;
  /** Deletes all versions. */
  deleteSkill(owner: Owner, skillId: string): Promise<boolean>;

  /** Its number is higher than those of all versions before, deleted ones included. */
  addVersion(owner: Owner, skillId: string, version: NewSkillVersion): Promise<SkillChange<SkillVersion>>;
  /** `version`: a number, `latest`, or null for the default version. */
  findVersion(owner: Owner, skillId: string, version: string | null): Promise<SkillVersion | null>;
  /** In the order of their numbers; null if the cursor is unknown. */
  listVersions(owner: Owner, skillId: string, page: PageRequest): Promise<ListPage<SkillVersion> | null>;
  /** Deletes the skill with its last version. Resolves to the deleted version. */
  deleteVersion(owner: Owner, skillId: string, version: string): Promise<SkillChange<SkillVersion>>;
  /** The zip archive of the version with this id (`skillver_…`). */
  readArchive(owner: Owner, versionId: string): Promise<Uint8Array | null>;
}
