import type { Skill, SkillVersion } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Kysely, Selectable } from "kysely";
import type { SkillsTable, SkillVersionsTable } from "../../database/container-tables.ts";
import type { Database } from "../../database/schema.ts";

type SkillRow = Pick<Selectable<SkillsTable>, "id" | "created_at" | "default_version" | "latest_version"> &
  Pick<SkillVersionsTable, "name" | "description">;
type VersionRow = Pick<Selectable<SkillVersionsTable>, (typeof VERSION_COLUMNS)[number]>;

/** All that is shown of a version. The archive, which is large, is read alone. */
export const VERSION_COLUMNS = ["id", "skill_id", "created_at", "version", "name", "description"] as const;

/** The skills of an owner, with name and description of their default versions. */
export function skillsOf(db: Kysely<Database>, owner: Owner) {
  return db
    .selectFrom("skills")
    .innerJoin("skill_versions", (join) =>
      join
        .onRef("skill_versions.skill_id", "=", "skills.id")
        .onRef("skill_versions.version", "=", "skills.default_version"),
    )
    .select([
      "skills.number",
      "skills.id",
      "skills.created_at",
      "skills.default_version",
      "skills.latest_version",
      "skill_versions.name",
      "skill_versions.description",
    ])
    .where("skills.organization", "=", owner.organization)
    .where("skills.project", "=", owner.project);
}

/** The versions of an owner's skill. */
export function versionsOf(db: Kysely<Database>, owner: Owner, skillId: string) {
  return db
    .selectFrom("skill_versions")
    .where("skill_id", "=", skillId)
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project);
}

export function shownSkill(row: SkillRow): Skill {
  return {
    id: row.id,
    object: "skill",
    created_at: row.created_at,
    default_version: String(row.default_version),
    description: row.description,
    latest_version: String(row.latest_version),
    name: row.name,
  };
}

export function shownSkillVersion(row: VersionRow): SkillVersion {
  return {
    id: row.id,
    object: "skill.version",
    created_at: row.created_at,
    description: row.description,
    name: row.name,
    skill_id: row.skill_id,
    version: String(row.version),
  };
}
