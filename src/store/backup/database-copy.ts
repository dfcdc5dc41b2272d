import { closeSync, existsSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "../database/sqlite/migrate.ts";
import { isBusy, isSpoilt } from "../database/sqlite/sqlite-faults.ts";

/** More pages than any database has: one read copies all, so that writers never restart the copy. */
const ALL_PAGES = 2 ** 31 - 1;
const OWNER_ONLY_FILE = 0o600;

/** A file whose contents a row of the database describes. */
export interface FileOfRow {
  readonly table: "files" | "container_files";
  readonly id: string;
  /** Relative to the folder of `files` and `containers`. */
  readonly path: string;
}

/** Copies a database that other processes may be writing: a snapshot of committed data, in a single file. */
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

/** The faults that SQLite finds in a database; empty if there are none. */
export function faultsOf(file: string): readonly string[] {
  try {
    return withDatabase(file, (database) => {
      const rows = database.prepare("pragma integrity_check").all();
      return rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== "ok");
    });
  } catch (error) {
    if (isSpoilt(error) && error instanceof Error) return [error.message];
    throw error;
  }
}

/** Table migrations of a later version, which this program does not know. */
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
export function forgetFiles(file: string, missingFiles: readonly FileOfRow[]): void {
  withDatabase(file, (database) => {
    for (const { table, id } of missingFiles) database.prepare(`delete from ${table} where id = ?`).run(id);
  });
}

/**
 * Runs the work while nobody else can open the database. Resolves to false, without running it, if the database is open
 * elsewhere.
 */
export async function alone(file: string, work: () => Promise<void>): Promise<boolean> {
  if (!existsSync(file)) {
    await work();
    return true;
  }
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Each user of a write-ahead log has a lock that forbids another journal mode.
    const mode = database.prepare("pragma journal_mode = delete").get();
    if (Object.values(mode ?? {})[0] !== "delete") return false;
    database.exec("begin exclusive");
  } catch (error) {
    database.close();
    if (isSpoilt(error)) {
      await work(); // A backup is also for a damaged database.
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
