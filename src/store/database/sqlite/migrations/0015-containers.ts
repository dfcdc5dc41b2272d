import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * Containers and their files. Files name their container by its id, which is also the name of their folder, so that
 * leftovers of a dead worker are found after the container is gone.
 */
export const containers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const STATEMENTS = [
  `create table containers (
    number integer primary key autoincrement,
    id text not null unique,
    organization text not null,
    project text not null,
    name text not null,
    memory_limit text not null,
    created_at integer not null,
    last_active_at integer not null,
    expires_after_minutes integer not null,
    expires_at integer not null,
    state text not null default 'running',
    is_emptied integer not null default 0,
    session_id text,
    previous_session_id text)`,
  `create index containers_by_owner on containers (organization, project, number)`,
  `create index containers_running on containers (organization, project, expires_at) where state = 'running'`,
  `create index containers_by_expiry on containers (expires_at) where state = 'running'`,
  `create index containers_to_empty on containers (number) where state <> 'running' and is_emptied = 0`,
  `create index containers_to_forget on containers (expires_at) where is_emptied = 1`,
  `create table container_files (
    number integer primary key autoincrement,
    id text not null unique,
    container_id text not null,
    organization text not null,
    project text not null,
    path text not null,
    bytes integer not null,
    created_at integer not null,
    source text not null,
    upload_id text,
    holder integer)`,
  `create index container_files_by_container on container_files (container_id, path)`,
  `create index container_files_by_owner on container_files (organization, project, bytes)`,
  `create index held_container_files on container_files (holder) where holder is not null`,
];
