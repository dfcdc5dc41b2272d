import { newId } from "@antiphon/base/ids.ts";
import type { Container, ContainerFile } from "@antiphon/contracts/responses-api/types.ts";
import type {
  ContainerChange,
  ContainerFileStream,
  ContainerPageRequest,
  ContainerRefusal,
  Containers,
  ContainerUpload,
  NewContainer,
} from "@antiphon/domain/containers.ts";
import type { FileStore, StoredFile } from "@antiphon/domain/files.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { PageRequest } from "@antiphon/domain/responses.ts";
import type { MountedSkill } from "@antiphon/domain/skills/mounted-skills.ts";
import { FileStorageAway } from "@antiphon/domain/storage.ts";
import type { ListPage } from "@antiphon/domain/vector-stores.ts";
import { type Kysely, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import type { ContainerBytes } from "../files/file-bytes.ts";
import { storageLock } from "../storage-quota.ts";
import { secondsNow } from "../vector-stores/store-statements.ts";
import type { ContainerFileWriter, ContainerLimits } from "./container-file-writer.ts";
import { pageOfContainerFiles, pageOfContainers } from "./container-pages.ts";
import { ownPathOfUpload, pathOfUpload } from "./container-path.ts";
import {
  type ContainerRow,
  filesOf,
  findContainerRow,
  isRunning,
  SECONDS_A_MINUTE,
  shownContainer,
  shownContainerFile,
} from "./container-rows.ts";
import { emptyContainers, expireContainers, forgetContainers } from "./container-upkeep.ts";
import { mountSkill } from "./mount-skill.ts";

export interface ContainerStoreParts {
  readonly calls: Pick<DatabaseCalls, "query">;
  readonly files: Pick<FileStore, "findFile" | "streamFile">;
  readonly writer: ContainerFileWriter;
  readonly bytes: ContainerBytes;
  readonly limits: ContainerLimits;
  /** Minutes without use after which a container expires by default. */
  readonly minutesUnused: number;
}

/** Containers in the database, with the bytes of their files outside. */
export class ContainerStore implements Containers {
  readonly #db: Kysely<Database>;
  readonly #parts: ContainerStoreParts;

  constructor(db: Kysely<Database>, parts: ContainerStoreParts) {
    this.#db = db;
    this.#parts = parts;
  }

  async createContainer(
    owner: Owner,
    container: NewContainer,
    signal?: AbortSignal,
  ): Promise<ContainerChange<Container>> {
    const uploads = await this.#findUploads(owner, container.fileIds);
    if ("reason" in uploads) return { type: "refused", refusal: uploads };
    const row = await this.#insert(owner, container);
    if ("reason" in row) return { type: "refused", refusal: row };
    const copies = await this.#copyAll(owner, row.id, uploads, signal).catch(async (error: unknown) => {
      await this.deleteContainer(owner, row.id);
      throw error;
    });
    if (copies.type === "changed") return { type: "changed", result: shownContainer(row) };
    await this.deleteContainer(owner, row.id);
    return copies;
  }

  async findContainer(owner: Owner, containerId: string): Promise<Container | null> {
    const row = await findContainerRow(this.#db, owner, containerId);
    return row === null ? null : shownContainer(row);
  }

  async listContainers(owner: Owner, request: ContainerPageRequest): Promise<ListPage<Container> | null> {
    const page = await pageOfContainers(this.#db, owner, request);
    return page === null ? null : { entries: page.rows.map(shownContainer), hasMore: page.hasMore };
  }

  async deleteContainer(owner: Owner, containerId: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable("containers")
      .set({ state: "deleted", is_emptied: 0 })
      .where("id", "=", containerId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where("state", "<>", "deleted")
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return false;
    try {
      await this.#parts.writer.removeAll(containerId);
    } catch (error) {
      if (error instanceof FileStorageAway) return true; // `expireUnused` retries.
      throw error;
    }
    await this.#db.deleteFrom("containers").where("id", "=", containerId).execute();
    return true;
  }

  async touchContainer(owner: Owner, containerId: string): Promise<Container | null> {
    const now = secondsNow();
    await this.#db
      .updateTable("containers")
      .set({
        last_active_at: now,
        expires_at: sql<number>`${now} + expires_after_minutes * ${SECONDS_A_MINUTE}`,
      })
      .where("id", "=", containerId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where("state", "=", "running")
      .where("expires_at", ">", now)
      .execute();
    return await this.findContainer(owner, containerId);
  }

  async addFile(
    owner: Owner,
    containerId: string,
    { filename, content }: ContainerUpload,
    signal?: AbortSignal,
  ): Promise<ContainerChange<ContainerFile>> {
    const file = { path: pathOfUpload(filename), content, source: "user", uploadId: null } as const;
    return await this.#parts.writer.write(owner, containerId, file, signal);
  }

  async copyUpload(
    owner: Owner,
    containerId: string,
    fileId: string,
    signal?: AbortSignal,
  ): Promise<ContainerChange<ContainerFile>> {
    const [upload] = await this.#knownUploads(owner, [fileId]);
    if (upload === undefined) {
      const row = await findContainerRow(this.#db, owner, containerId);
      const refusal = row === null ? ({ reason: "unknown_container" } as const) : unknownUpload(fileId);
      return { type: "refused", refusal };
    }
    return await this.#copy(owner, containerId, { upload, path: pathOfUpload(upload.filename) }, signal);
  }

  async copyMissingUploads(
    owner: Owner,
    containerId: string,
    fileIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<ContainerChange<readonly ContainerFile[]>> {
    const row = await findContainerRow(this.#db, owner, containerId);
    if (row === null) return { type: "refused", refusal: { reason: "unknown_container" } };
    if (!isRunning(row)) return { type: "refused", refusal: { reason: "expired_container" } };
    const there = await filesOf(this.#db, owner, containerId).select("upload_id").distinct().execute();
    const knownIds = new Set(there.map(({ upload_id: id }) => id));
    const missing = await this.#findUploads(
      owner,
      fileIds.filter((id) => !knownIds.has(id)),
    );
    if ("reason" in missing) return { type: "refused", refusal: missing };
    return await this.#copyAll(owner, containerId, missing, signal);
  }

  async mountSkills(
    owner: Owner,
    containerId: string,
    skills: readonly MountedSkill[],
    signal?: AbortSignal,
  ): Promise<ContainerChange<Container>> {
    const { writer } = this.#parts;
    for (const skill of skills) {
      const refusal = await mountSkill(this.#db, { owner, containerId, writer }, skill, signal);
      if (refusal !== null) return { type: "refused", refusal };
    }
    const container = await this.findContainer(owner, containerId);
    if (container === null) return { type: "refused", refusal: { reason: "unknown_container" } };
    return { type: "changed", result: container };
  }

  async findFile(owner: Owner, containerId: string, fileId: string): Promise<ContainerFile | null> {
    const row = await filesOf(this.#db, owner, containerId).selectAll().where("id", "=", fileId).executeTakeFirst();
    return row === undefined ? null : shownContainerFile(row);
  }

  async listFiles(owner: Owner, containerId: string, request: PageRequest): Promise<ListPage<ContainerFile> | null> {
    const container = await findContainerRow(this.#db, owner, containerId);
    if (container === null || !isRunning(container)) return null;
    const page = await pageOfContainerFiles(filesOf(this.#db, owner, containerId), request);
    return page === null ? null : { entries: page.rows.map(shownContainerFile), hasMore: page.hasMore };
  }

  async streamFile(owner: Owner, containerId: string, fileId: string): Promise<ContainerFileStream | null> {
    const file = await this.findFile(owner, containerId, fileId);
    return file === null ? null : { file, content: this.#parts.bytes.stream(containerId, fileId) };
  }

  async removeFile(owner: Owner, containerId: string, fileId: string): Promise<boolean> {
    const isThere = (await this.findFile(owner, containerId, fileId)) !== null;
    return isThere && (await this.#parts.writer.remove(owner, containerId, fileId));
  }

  async expireUnused(now: number): Promise<boolean> {
    const { writer } = this.#parts;
    await writer.removeLeftovers();
    const hasExpired = await expireContainers(this.#db, now);
    const hasEmptied = await emptyContainers(this.#db, writer);
    const forgotten = await forgetContainers(this.#db, now);
    return hasExpired || hasEmptied || forgotten;
  }

  /** In one statement, so that concurrent requests cannot exceed the maximum of containers. */
  async #insert(owner: Owner, container: NewContainer): Promise<ContainerRow | ContainerRefusal> {
    const { containersMax } = this.#parts.limits;
    const now = secondsNow();
    const minutes = container.expiresAfterMinutes ?? this.#parts.minutesUnused;
    const id = container.id ?? newId("cntr", now);
    const values = [id, owner.organization, owner.project, container.name, container.memoryLimit, now, now, minutes];
    const running = sql`(select count(*) from containers where organization = ${owner.organization}
      and project = ${owner.project} and state = 'running' and expires_at > ${now})`;
    const { sql: text, parameters } = sql`
      insert into containers (id, organization, project, name, memory_limit, created_at, last_active_at,
        expires_after_minutes, expires_at)
      select ${sql.join(values)}, ${now + minutes * SECONDS_A_MINUTE}
      where ${containersMax === 0 ? sql`true` : sql`${containersMax} > ${running}`}
      returning *`.compile(this.#db);
    const { rows } = await this.#parts.calls.query({ sql: text, parameters }, storageLock(owner));
    const [row]: readonly ContainerRow[] = rows;
    return row ?? { reason: "too_many_containers", containersMax };
  }

  /** Checks all files before any is copied. */
  async #findUploads(owner: Owner, fileIds: readonly string[]): Promise<readonly StoredFile[] | ContainerRefusal> {
    const uploads = await this.#knownUploads(owner, fileIds);
    const knownIds = new Set(uploads.map(({ id }) => id));
    const unknown = fileIds.find((id) => !knownIds.has(id));
    if (unknown !== undefined) return unknownUpload(unknown);
    const { fileBytesMax, containerBytesMax } = this.#parts.limits;
    if (uploads.some(({ bytes }) => bytes > fileBytesMax)) return { reason: "file_too_large", bytesMax: fileBytesMax };
    const bytes = uploads.reduce((sum, upload) => sum + upload.bytes, 0);
    return bytes > containerBytesMax ? { reason: "container_full", bytesMax: containerBytesMax } : uploads;
  }

  async #knownUploads(owner: Owner, fileIds: readonly string[]): Promise<readonly StoredFile[]> {
    const files = await Promise.all([...new Set(fileIds)].map((id) => this.#parts.files.findFile(owner, id)));
    return files.filter((file) => file !== null);
  }

  async #copyAll(
    owner: Owner,
    containerId: string,
    uploads: readonly StoredFile[],
    signal: AbortSignal | undefined,
  ): Promise<ContainerChange<readonly ContainerFile[]>> {
    const rows = await filesOf(this.#db, owner, containerId).select("path").execute();
    const takenPaths = new Set(rows.map(({ path }) => path));
    const files: ContainerFile[] = [];
    for (const upload of uploads) {
      const plain = pathOfUpload(upload.filename);
      const path = takenPaths.has(plain) ? ownPathOfUpload(upload.filename, upload.id) : plain;
      const copy = await this.#copy(owner, containerId, { upload, path }, signal);
      if (copy.type === "refused") return copy;
      takenPaths.add(path);
      files.push(copy.result);
    }
    return { type: "changed", result: files };
  }

  async #copy(
    owner: Owner,
    containerId: string,
    { upload, path }: { readonly upload: StoredFile; readonly path: string },
    signal: AbortSignal | undefined,
  ): Promise<ContainerChange<ContainerFile>> {
    const stream = await this.#parts.files.streamFile(owner, upload.id);
    if (stream === null) return { type: "refused", refusal: unknownUpload(upload.id) };
    const file = { path, content: stream.content, source: "user", uploadId: upload.id } as const;
    return await this.#parts.writer.write(owner, containerId, file, signal);
  }
}

function unknownUpload(fileId: string): ContainerRefusal {
  return { reason: "unknown_upload", fileId };
}
