import { closeSync, existsSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "../database/sqlite/migrate.ts";
import { isBusy, isSpoilt } from "../database/sqlite/sqlite-faults.ts";

/** More pages than a database has: all are copied in one read, so that writers never make the copy start again. */
const ALL_PAGES = 2 ** 31 - 1;
const OWNER_ONLY_FILE = 0o600;

/** A file whose contents a row of the database describes. */
export interface FileOfRow {
  readonly table: "files" | "container_files";
  readonly id: string;
  /** Relative to the folder that holds `files` and `containers`. */
  readonly path: string;
}

/** Copies a database that others may be writing: the copy is what was committed at one moment, in a single file. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  closeSync(openSync(to, "wx", OWNER_ONLY_FILE));
  const source = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(source, to, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
  withDatabase(to, (copy) => copy.exec("pragma journal_mode = delete"));
}

/** What SQLite finds wrong in a database; empty if it is sound. */
export function faultsOf(file: string): readonly string[] {
  try {
    return withDatabase(file, (database) => {
      const found = database.prepare("pragma integrity_check").all();
      return found.map((row) => String(Object.values(row)[0])).filter((text) => text !== "ok");
    });
  } catch (error) {
    if (isSpoilt(error) && error instanceof Error) return [error.message];
    throw error;
  }
}

/** The changes of tables that this program does not know, because a later version made them. */
export function listUnknownMigrations(file: string): readonly string[] {
  return withDatabase(file, (database) => {
    const ran = database.prepare("select name from migrations order by name").all();
    return ran.map(({ name }) => String(name)).filter((name) => !Object.hasOwn(MIGRATIONS, name));
  });
}

/** The files whose contents were complete when the database was copied. */
export function listFilesOfRows(file: string): readonly FileOfRow[] {
  return withDatabase(file, (database) => {
    const uploads = database.prepare("select id, 'files/' || id as path from files where holder is null").all();
    const inContainers = database.prepare(FILES_IN_CONTAINERS).all();
    return [
      ...uploads.map((row) => fileOf("files", row)),
      ...inContainers.map((row) => fileOf("container_files", row)),
    ];
  });
}

const FILES_IN_CONTAINERS = `
  select file.id as id, 'containers/' || file.container_id || '/' || file.id as path
  from container_files file join containers container on container.id = file.container_id
  where file.holder is null and container.state = 'running'`;

function fileOf(table: FileOfRow["table"], row: Readonly<Record<string, unknown>>): FileOfRow {
  return { table, id: String(row["id"]), path: String(row["path"]) };
}

/** Removes the rows of files that are not in the backup. */
export function forgetFiles(file: string, gone: readonly FileOfRow[]): void {
  withDatabase(file, (database) => {
    for (const { table, id } of gone) database.prepare(`delete from ${table} where id = ?`).run(id);
  });
}

/**
 * Works while nobody else has the database open and nobody can open it. Resolves to false, without working, if somebody
 * has.
 */
export async function alone(file: string, work: () => Promise<void>): Promise<boolean> {
  if (!existsSync(file)) {
    await work();
    return true;
  }
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Each user of a write-ahead log holds a lock that forbids another journal.
    const mode = database.prepare("pragma journal_mode = delete").get();
    if (Object.values(mode ?? {})[0] !== "delete") return false;
    database.exec("begin exclusive");
  } catch (error) {
    database.close();
    if (isSpoilt(error)) {
      await work(); // A damaged database is what a backup is for.
      return true;
    }
    if (isBusy(error)) return false;
    throw error;
  }
  try {
    await work();
    return true;
  } finally {
    database.close();
  }
}

function withDatabase<Result>(file: string, work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}
