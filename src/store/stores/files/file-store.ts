import { assert } from "@antiphon/base/assert.ts";
import { randomHex } from "@antiphon/base/ids.ts";
import type {
  FileContent,
  FilePage,
  FilePageRequest,
  FileStore,
  FileStream,
  IncomingFile,
  StoredFile,
} from "@antiphon/domain/files.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, type Selectable, sql } from "kysely";
import { SKIP_LOCKED } from "../../database/dialectal.ts";
import type { Database, FilesTable } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { type StoredQuota, storageLock } from "../storage-quota.ts";
import type { FileBytes } from "./file-bytes.ts";
import { writeSignal } from "./file-folder.ts";
import { findGoneHolders } from "./gone-holders.ts";
import { Removals } from "./removals.ts";

/** The number of files removed at a time. */
const REMOVED_TOGETHER_MAX = 100;

/** An invisible file, and the worker that holds it. */
interface HeldFile {
  readonly id: string;
  readonly holder: number;
}

type Calls = Pick<DatabaseCalls, "query" | "workerNumber" | "findDeadWorkers">;

/** The id of a file that does not exist yet. */
export function newFileId(): string {
  return `file-${randomHex(48)}`;
}

/**
 * Rows are in the database, contents outside. While a file is being written or removed, its worker holds it and it is
 * invisible. Files held by a dead worker are removed by the next worker.
 */
export class StoredFiles implements FileStore {
  readonly #db: Kysely<Database>;
  readonly #calls: Calls;
  readonly #bytes: FileBytes;
  readonly #removals: Removals<HeldFile>;
  readonly #quota: StoredQuota;

  constructor(db: Kysely<Database>, calls: Calls, bytes: FileBytes, quota: StoredQuota) {
    this.#db = db;
    this.#calls = calls;
    this.#bytes = bytes;
    this.#removals = new Removals((file) => this.#erase(file));
    this.#quota = quota;
  }

  async createFile(owner: Owner, file: IncomingFile, signal?: AbortSignal): Promise<StoredFile> {
    await this.#quota.requireRoom(owner);
    const holder = await this.#calls.workerNumber();
    const { id = newFileId(), content, expiresAfter } = file;
    const row = rowOf(owner, file, { id, createdAt: now(), expiresAfter });
    await this.#db
      .insertInto("files")
      .values({ ...row, holder })
      .execute();
    try {
      const bytes = await this.#bytes.write(row.id, content, writeSignal(signal));
      await this.#show(owner, { id: row.id, holder }, bytes);
      return storedFile({ ...row, bytes });
    } catch (error) {
      await this.#removals.remove([{ id: row.id, holder }]);
      throw error;
    }
  }

  async findFile(owner: Owner, fileId: string): Promise<StoredFile | null> {
    const row = await this.#ofOwner(owner).selectAll().where("id", "=", fileId).executeTakeFirst();
    return row === undefined ? null : storedFile(row);
  }

  async listFiles(owner: Owner, { purpose, order, after, limit }: FilePageRequest): Promise<FilePage | null> {
    const cursor = after === null ? null : await this.#findSequence(owner, after);
    if (after !== null && cursor === null) return null;
    const rows = await this.#ofOwner(owner)
      .selectAll()
      .$if(purpose !== null, (query) => query.where((row) => row(row.cast("purpose", "text"), "=", purpose)))
      .$if(cursor !== null, (query) => query.where("sequence", order === "asc" ? ">" : "<", cursor))
      .orderBy("sequence", order)
      .limit(limit + 1)
      .execute();
    return { files: rows.slice(0, limit).map(storedFile), hasMore: rows.length > limit };
  }

  async readFile(owner: Owner, fileId: string): Promise<FileContent | null> {
    const file = await this.findFile(owner, fileId);
    const bytes = file === null ? null : await this.#bytes.read(fileId);
    return file === null || bytes === null ? null : { filename: file.filename, mimeType: file.mimeType, bytes };
  }

  async streamFile(owner: Owner, fileId: string): Promise<FileStream | null> {
    const file = await this.findFile(owner, fileId);
    return file === null ? null : { file, content: this.#bytes.stream(fileId) };
  }

  async deleteFile(owner: Owner, fileId: string): Promise<boolean> {
    const holder = await this.#calls.workerNumber();
    const { numUpdatedRows } = await this.#db
      .updateTable("files")
      .set({ holder })
      .where("id", "=", fileId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where("holder", "is", null)
      .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", now())]))
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return false;
    await this.#removals.remove([{ id: fileId, holder }]);
    return true;
  }

  async deleteExpired(by: number): Promise<number> {
    await this.removeLeftovers();
    const holder = await this.#calls.workerNumber();
    let count = 0;
    for (;;) {
      const ids = await this.#holdExpired(by, holder);
      await this.#removals.remove(ids.map((id) => ({ id, holder })));
      count += ids.length;
      if (ids.length < REMOVED_TOGETHER_MAX) return count;
    }
  }

  /** Removes files that dead workers did not finish writing or removing, and files whose removal failed. */
  async removeLeftovers(): Promise<void> {
    await this.#removals.removeWaiting();
    const goneHolders = await findGoneHolders(this.#db, this.#calls, "files");
    for (const holder of goneHolders) {
      const rows = await this.#db.selectFrom("files").select("id").where("holder", "=", holder).execute();
      for (const { id } of rows) {
        await this.#bytes.removeUnfinished(id);
        await this.#forget({ id, holder });
      }
    }
  }

  /** The complete files of this owner. */
  #ofOwner(owner: Owner) {
    return this.#db
      .selectFrom("files")
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where("holder", "is", null)
      .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", now())]));
  }

  async #findSequence(owner: Owner, fileId: string): Promise<number | null> {
    const row = await this.#ofOwner(owner).select("sequence").where("id", "=", fileId).executeTakeFirst();
    return row?.sequence ?? null;
  }

  /** In one statement: checks the owner's limit, counts the size, and shows the file. */
  async #show(owner: Owner, { id, holder }: HeldFile, bytes: number): Promise<void> {
    const { sql: text, parameters } = sql`update files set bytes = ${bytes}, holder = null
      where id = ${id} and holder = ${holder} and ${this.#quota.hasRoom(owner, bytes)}
      returning id`.compile(this.#db);
    const { rows } = await this.#calls.query({ sql: text, parameters }, storageLock(owner));
    if (rows.length > 0) return;
    const result = await sql`select 1 from files where id = ${id} and holder = ${holder}`.execute(this.#db);
    assert(result.rows.length > 0, "a worker that writes a file still holds its lease");
    throw this.#quota.quotaExceeded();
  }

  async #holdExpired(by: number, holder: number): Promise<readonly string[]> {
    const expiredFiles = this.#db
      .selectFrom("files")
      .select("id")
      .where("expires_at", "<=", by)
      .where("holder", "is", null)
      .limit(REMOVED_TOGETHER_MAX)
      .modifyEnd(SKIP_LOCKED);
    const rows = await this.#db
      .updateTable("files")
      .set({ holder })
      .where("id", "in", expiredFiles)
      .returning("id")
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Removes the contents first: a row without contents is found again, contents without a row are not. */
  async #erase({ id, holder }: HeldFile): Promise<void> {
    await this.#bytes.remove(id);
    await this.#forget({ id, holder });
  }

  async #forget({ id, holder }: HeldFile): Promise<void> {
    await this.#db.deleteFrom("files").where("id", "=", id).where("holder", "=", holder).execute();
  }
}

function rowOf(
  owner: Owner,
  { purpose, filename, mimeType }: IncomingFile,
  { id, createdAt, expiresAfter }: { id: string; createdAt: number; expiresAfter: number | null },
) {
  return {
    id,
    organization: owner.organization,
    project: owner.project,
    purpose,
    filename,
    mime_type: mimeType,
    bytes: 0,
    created_at: createdAt,
    expires_at: expiresAfter === null ? null : createdAt + expiresAfter,
  };
}

function storedFile(row: Omit<Selectable<FilesTable>, "sequence" | "holder">): StoredFile {
  return {
    id: row.id,
    purpose: row.purpose,
    filename: row.filename,
    mimeType: row.mime_type,
    bytes: row.bytes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
