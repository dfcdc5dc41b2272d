import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Skills, and their versions with the archives of their files. */
export const skills: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  `create table skills (
    number integer primary key autoincrement,
    id text not null unique,
    organization text not null,
    project text not null,
    created_at integer not null,
    default_version integer not null,
    latest_version integer not null,
    last_number integer not null)`,
  `create index skills_by_owner on skills (organization, project, number)`,
  `create table skill_versions (
    id text not null primary key,
    skill_id text not null,
    organization text not null,
    project text not null,
    created_at integer not null,
    version integer not null,
    name text not null,
    description text not null,
    bytes integer not null,
    archive blob not null)`,
  `create unique index skill_versions_by_skill on skill_versions (skill_id, version)`,
];
