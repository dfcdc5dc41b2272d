import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Skills, and their versions with the archives of their files. */
export const skillsInPostgres: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const TEXT = `text collate "C"`;
const NUMBER = "bigint generated always as identity";

const STATEMENTS = [
  `create table skills (
    number ${NUMBER} primary key,
    id ${TEXT} not null unique,
    organization ${TEXT} not null,
    project ${TEXT} not null,
    created_at bigint not null,
    default_version bigint not null,
    latest_version bigint not null,
    last_number bigint not null)`,
  `create index skills_by_owner on skills (organization, project, number)`,
  `create table skill_versions (
    id ${TEXT} not null primary key,
    skill_id ${TEXT} not null,
    organization ${TEXT} not null,
    project ${TEXT} not null,
    created_at bigint not null,
    version bigint not null,
    name ${TEXT} not null,
    description ${TEXT} not null,
    bytes bigint not null,
    archive bytea not null)`,
  `create unique index skill_versions_by_skill on skill_versions (skill_id, version)`,
];
