import { newId } from "@antiphon/base/ids.ts";
import type { Skill, SkillVersion } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { PageRequest } from "@antiphon/domain/responses.ts";
import {
  LATEST_VERSION,
  type NewSkillVersion,
  SKILL_LIMITS,
  type SkillBundle,
  type SkillChange,
  type SkillRefusal,
  type Skills,
} from "@antiphon/domain/skills/skills.ts";
import type { ListPage } from "@antiphon/domain/vector-stores.ts";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import type { StoredQuota } from "../storage-quota.ts";
import { compileAll } from "../vector-stores/compile-all.ts";
import { secondsNow } from "../vector-stores/store-statements.ts";
import { shownSkill, shownSkillVersion, skillsOf, VERSION_COLUMNS, versionsOf } from "./skill-rows.ts";

const NUMBER = /^[1-9][0-9]{0,8}$/;

type Limits = Readonly<Record<"skillsMax" | "versionsMax", number>>;

interface Parts {
  readonly calls: Pick<DatabaseCalls, "transact">;
  readonly quota: StoredQuota;
  readonly limits?: Limits;
}

/**
 * Skills in the database, with their archives. With PostgreSQL, calls that create skills at the same moment may exceed
 * the maximum, each by one.
 */
export class StoredSkills implements Skills {
  readonly #db: Kysely<Database>;
  readonly #parts: Parts;
  readonly #limits: Limits;

  constructor(db: Kysely<Database>, parts: Parts) {
    this.#db = db;
    this.#parts = parts;
    this.#limits = parts.limits ?? SKILL_LIMITS;
  }

  async createSkill(owner: Owner, bundle: SkillBundle): Promise<SkillChange<Skill>> {
    await this.#parts.quota.requireRoom(owner, bundle.archive.length);
    const { skillsMax } = this.#limits;
    const now = secondsNow();
    const id = newId("skill", now);
    const changes = await this.#transact([
      sql`insert into skills (id, organization, project, created_at, default_version, latest_version, last_number)
        select ${sql.join([id, owner.organization, owner.project, now, 1, 1, 1])}
        where (select count(*) from skills where organization = ${owner.organization} and project = ${owner.project})
          < ${skillsMax}`,
      insertVersion(owner, { skillId: id, versionId: newId("skillver", now), createdAt: now }, bundle),
    ]);
    if (changes === null) return refused({ reason: "too_many_skills", skillsMax });
    return await this.#changedSkill(owner, id);
  }

  async findSkill(owner: Owner, skillId: string): Promise<Skill | null> {
    const row = await skillsOf(this.#db, owner).where("skills.id", "=", skillId).executeTakeFirst();
    return row === undefined ? null : shownSkill(row);
  }

  async listSkills(owner: Owner, { limit, order, after }: PageRequest): Promise<ListPage<Skill> | null> {
    const skills = skillsOf(this.#db, owner);
    const cursor = after === null ? null : await skills.where("skills.id", "=", after).executeTakeFirst();
    if (cursor === undefined) return null;
    const rows = await skills
      .$if(cursor !== null, (query) => query.where("skills.number", order === "asc" ? ">" : "<", cursor?.number ?? 0))
      .orderBy("skills.number", order)
      .limit(limit + 1)
      .execute();
    return { entries: rows.slice(0, limit).map(shownSkill), hasMore: rows.length > limit };
  }

  async changeDefault(owner: Owner, skillId: string, version: string): Promise<SkillChange<Skill>> {
    if ((await this.findSkill(owner, skillId)) === null) return refused({ reason: "unknown_skill" });
    const row = await this.findVersion(owner, skillId, version);
    if (row === null) return refused({ reason: "unknown_version" });
    await this.#db
      .updateTable("skills")
      .set({ default_version: Number(row.version) })
      .where("id", "=", skillId)
      .where((skill) =>
        skill.exists(versionsOf(this.#db, owner, skillId).select("id").where("version", "=", Number(row.version))),
      )
      .execute();
    return await this.#changedSkill(owner, skillId);
  }

  async deleteSkill(owner: Owner, skillId: string): Promise<boolean> {
    const changes = await this.#transact([
      sql`delete from skills where id = ${skillId} and organization = ${owner.organization}
        and project = ${owner.project}`,
      sql`delete from skill_versions where skill_id = ${skillId}`,
    ]);
    return changes !== null;
  }

  async addVersion(owner: Owner, skillId: string, version: NewSkillVersion): Promise<SkillChange<SkillVersion>> {
    await this.#parts.quota.requireRoom(owner, version.archive.length);
    const { versionsMax } = this.#limits;
    const now = secondsNow();
    const versionId = newId("skillver", now);
    const changes = await this.#transact([
      sql`update skills set last_number = last_number + 1, latest_version = last_number + 1,
          default_version = ${version.isDefault ? sql`last_number + 1` : sql`default_version`}
        where id = ${skillId} and organization = ${owner.organization} and project = ${owner.project}
          and (select count(*) from skill_versions where skill_id = ${skillId}) < ${versionsMax}`,
      insertVersion(owner, { skillId, versionId, createdAt: now }, version),
    ]);
    const row = await versionsOf(this.#db, owner, skillId)
      .select(VERSION_COLUMNS)
      .where("id", "=", versionId)
      .executeTakeFirst();
    if (changes !== null && row !== undefined) return { type: "changed", result: shownSkillVersion(row) };
    const isThere = (await this.findSkill(owner, skillId)) !== null;
    return refused(isThere ? { reason: "too_many_versions", versionsMax } : { reason: "unknown_skill" });
  }

  async findVersion(owner: Owner, skillId: string, version: string | null): Promise<SkillVersion | null> {
    const isPointer = version === null || version === LATEST_VERSION;
    if (!isPointer && !NUMBER.test(version)) return null;
    const pointer = version === null ? "default_version" : "latest_version";
    const row = await versionsOf(this.#db, owner, skillId)
      .select(VERSION_COLUMNS)
      .where((columns) =>
        columns(
          "version",
          "=",
          isPointer ? columns.selectFrom("skills").select(pointer).where("skills.id", "=", skillId) : Number(version),
        ),
      )
      .executeTakeFirst();
    return row === undefined ? null : shownSkillVersion(row);
  }

  async listVersions(
    owner: Owner,
    skillId: string,
    { limit, order, after }: PageRequest,
  ): Promise<ListPage<SkillVersion> | null> {
    const versions = versionsOf(this.#db, owner, skillId);
    const cursor = after === null ? null : await versions.select("version").where("id", "=", after).executeTakeFirst();
    if (cursor === undefined) return null;
    const rows = await versions
      .select(VERSION_COLUMNS)
      .$if(cursor !== null, (query) => query.where("version", order === "asc" ? ">" : "<", cursor?.version ?? 0))
      .orderBy("version", order)
      .limit(limit + 1)
      .execute();
    return { entries: rows.slice(0, limit).map(shownSkillVersion), hasMore: rows.length > limit };
  }

  async deleteVersion(owner: Owner, skillId: string, version: string): Promise<SkillChange<SkillVersion>> {
    if ((await this.findSkill(owner, skillId)) === null) return refused({ reason: "unknown_skill" });
    const row = await this.findVersion(owner, skillId, version);
    if (row === null) return refused({ reason: "unknown_version" });
    const others = sql`(select 1 from skill_versions where skill_id = ${skillId})`;
    const changes = await this.#transact([
      // Changes nothing, but locks the skill until the end of the transaction.
      sql`update skills set last_number = last_number where id = ${skillId}`,
      sql`delete from skill_versions where id = ${row.id} and (
        version <> (select default_version from skills where id = ${skillId})
        or (select count(*) from skill_versions where skill_id = ${skillId}) = 1)`,
      sql`update skills set latest_version = coalesce(
          (select max(version) from skill_versions where skill_id = ${skillId}), latest_version)
        where id = ${skillId}`,
      sql`delete from skills where id = ${skillId} and not exists ${others}`,
    ]);
    if (changes?.[1] === 1n) return { type: "changed", result: row };
    const isThere = (await this.findVersion(owner, skillId, version)) !== null;
    return refused({ reason: isThere ? "default_version" : "unknown_version" });
  }

  async readArchive(owner: Owner, versionId: string): Promise<Uint8Array | null> {
    const row = await this.#db
      .selectFrom("skill_versions")
      .select("archive")
      .where("id", "=", versionId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .executeTakeFirst();
    return row?.archive ?? null;
  }

  async #changedSkill(owner: Owner, skillId: string): Promise<SkillChange<Skill>> {
    const skill = await this.findSkill(owner, skillId);
    return skill === null ? refused({ reason: "unknown_skill" }) : { type: "changed", result: skill };
  }

  async #transact(statements: readonly RawBuilder<unknown>[]): Promise<readonly bigint[] | null> {
    return await this.#parts.calls.transact(compileAll(this.#db, statements));
  }
}

function refused(refusal: SkillRefusal): { readonly type: "refused"; readonly refusal: SkillRefusal } {
  return { type: "refused", refusal };
}

interface VersionKeys {
  readonly skillId: string;
  readonly versionId: string;
  readonly createdAt: number;
}

/** With the number that the skill counted last. */
function insertVersion(
  { organization, project }: Owner,
  { skillId, versionId, createdAt }: VersionKeys,
  { name, description, archive }: SkillBundle,
): RawBuilder<unknown> {
  return sql`insert into skill_versions
      (id, skill_id, organization, project, created_at, version, name, description, bytes, archive)
    values (${sql.join([versionId, skillId, organization, project, createdAt])},
      (select last_number from skills where id = ${skillId}), ${sql.join([name, description, archive.length, archive])})`;
}
