import { newId } from "@antiphon/base/ids.ts";
import { bytesAtMost } from "@antiphon/base/limits/bytes-at-most.ts";
import type { ContainerFile } from "@antiphon/contracts/responses-api/types.ts";
import type { ContainerChange, ContainerRefusal } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, sql } from "kysely";
import { KEEP_ROWS } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import type { ContainerBytes } from "../files/file-bytes.ts";
import { writeSignal } from "../files/file-folder.ts";
import { findGoneHolders } from "../files/gone-holders.ts";
import { Removals } from "../files/removals.ts";
import { type StoredQuota, storageLock } from "../storage-quota.ts";
import { secondsNow } from "../vector-stores/store-statements.ts";
import { DATA_FOLDER } from "./container-path.ts";
import { type ContainerFileRow, findContainerRow, isRunning, shownContainerFile } from "./container-rows.ts";

export interface ContainerLimits {
  readonly containerBytesMax: number;
  readonly fileBytesMax: number;
  readonly filesMax: number;
  /** The maximum of concurrent containers per owner; 0 for no limit, also in the next member. */
  readonly containersMax: number;
  /** The maximum bytes of the files of all containers of one owner. */
  readonly ownerBytesMax: number;
}

/** A file to write into a container. */
export interface FileToWrite {
  /** Null for `/mnt/data/<id>.png`. */
  readonly path: string | null;
  readonly content: AsyncIterable<Uint8Array>;
  readonly source: ContainerFile["source"];
  /** The uploaded file that was copied; null if it is not a copy. */
  readonly uploadId: string | null;
}

/** The remaining bytes, and the refusal if there are more. */
interface Room {
  readonly bytesMax: number;
  readonly refusal: ContainerRefusal;
}

/** A row whose bytes are not there yet. */
type Draft = Omit<ContainerFileRow, "number" | "holder" | "upload_id"> & { readonly holder: number };

interface Filled {
  readonly bytes: number;
  /** Ids of the files that it replaced; they are to be erased. */
  readonly replacedIds: readonly string[];
}

/** An invisible file, and the worker that holds it. */
interface HeldFile {
  readonly containerId: string;
  readonly id: string;
  readonly holder: number;
}

type Calls = Pick<DatabaseCalls, "query" | "workerNumber" | "findDeadWorkers">;

/**
 * Writes and removes the files of containers. As with uploaded files, the row is written before the bytes and removed
 * after them, and names its worker meanwhile.
 */
export class ContainerFileWriter {
  readonly #db: Kysely<Database>;
  readonly #calls: Calls;
  readonly #bytes: ContainerBytes;
  readonly #quota: StoredQuota;
  readonly #limits: ContainerLimits;
  readonly #removals = new Removals<HeldFile>((file) => this.#erase(file));

  constructor(
    db: Kysely<Database>,
    calls: Calls,
    { bytes, quota, limits }: { bytes: ContainerBytes; quota: StoredQuota; limits: ContainerLimits },
  ) {
    this.#db = db;
    this.#calls = calls;
    this.#bytes = bytes;
    this.#quota = quota;
    this.#limits = limits;
  }

  /** Replaces a file at the same path. Rejects with `StorageQuotaExceeded`, or like `content`. */
  async write(
    owner: Owner,
    containerId: string,
    file: FileToWrite,
    signal?: AbortSignal,
  ): Promise<ContainerChange<ContainerFile>> {
    const room = await this.#findRoom(owner, containerId, file.path);
    if ("reason" in room) return { type: "refused", refusal: room };
    await this.#quota.requireRoom(owner);
    const draft = await this.#draft(owner, containerId, file);
    const outcome = await this.#fill(
      owner,
      draft,
      bytesAtMost(file.content, room.bytesMax, () => new TooManyBytes()),
      writeSignal(signal),
    ).catch(async (error: unknown) => {
      await this.#removals.remove([{ containerId, id: draft.id, holder: draft.holder }]);
      if (error instanceof TooManyBytes) return room.refusal;
      const now = await this.#findRoom(owner, containerId, draft.path);
      // A deleted container loses its folder, including files that are being written.
      if (signal?.aborted !== true && "reason" in now) return now;
      throw error;
    });
    if ("reason" in outcome) return { type: "refused", refusal: outcome };
    await this.#removals.remove(outcome.replacedIds.map((id) => ({ containerId, id, holder: draft.holder })));
    return { type: "changed", result: shownContainerFile({ ...draft, bytes: outcome.bytes }) };
  }

  /** Returns false if the container has no such file. */
  async remove(owner: Owner, containerId: string, fileId: string): Promise<boolean> {
    const holder = await this.#calls.workerNumber();
    const { numUpdatedRows } = await this.#db
      .updateTable("container_files")
      .set({ holder })
      .where("id", "=", fileId)
      .where("container_id", "=", containerId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where("holder", "is", null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return false;
    await this.#removals.remove([{ containerId, id: fileId, holder }]);
    return true;
  }

  /**
   * Removes all files of a container that is no longer visible. Files that are being written are removed by their
   * writer.
   */
  async removeAll(containerId: string): Promise<void> {
    const rows = await this.#db
      .selectFrom("container_files")
      .select("id")
      .where("container_id", "=", containerId)
      .where("holder", "is", null)
      .execute();
    await this.#bytes.removeContainer(
      containerId,
      rows.map(({ id }) => id),
    );
    await this.#db
      .deleteFrom("container_files")
      .where("container_id", "=", containerId)
      .where("holder", "is", null)
      .execute();
  }

  /** Removes files that dead workers did not finish writing or removing, and files whose removal failed. */
  async removeLeftovers(): Promise<void> {
    await this.#removals.removeWaiting();
    for (const holder of await findGoneHolders(this.#db, this.#calls, "container_files")) {
      const rows = await this.#db
        .selectFrom("container_files")
        .select(["id", "container_id"])
        .where("holder", "=", holder)
        .execute();
      for (const { id, container_id: containerId } of rows) {
        await this.#bytes.removeUnfinished(containerId, id);
        await this.#forget({ id, holder });
      }
    }
  }

  async #draft(owner: Owner, containerId: string, file: FileToWrite): Promise<Draft> {
    const createdAt = secondsNow();
    const id = newId("cfile", createdAt);
    const draft: Draft = {
      id,
      container_id: containerId,
      organization: owner.organization,
      project: owner.project,
      path: file.path ?? `${DATA_FOLDER}${id}.png`,
      bytes: 0,
      created_at: createdAt,
      source: file.source,
      holder: await this.#calls.workerNumber(),
    };
    await this.#db
      .insertInto("container_files")
      .values({ ...draft, upload_id: file.uploadId })
      .execute();
    return draft;
  }

  /** Writes the bytes and shows the file. */
  async #fill(
    owner: Owner,
    draft: Draft,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Filled | ContainerRefusal> {
    const bytes = await this.#bytes.write(draft.container_id, draft.id, content, signal);
    const replacedIds = await this.#show(draft, bytes);
    return replacedIds === null ? await this.#refuse(owner, draft, bytes) : { bytes, replacedIds };
  }

  /**
   * In one statement: shows the new file and hides the previous file at its path, unless a limit forbids it or the
   * container has ended. Returns the ids of replaced files; null if nothing was changed.
   */
  async #show(draft: Draft, bytes: number): Promise<readonly string[] | null> {
    const { containerBytesMax, filesMax, ownerBytesMax } = this.#limits;
    const { container_id: containerId } = draft;
    const others = sql`from container_files where container_id = ${containerId} and holder is null
      and path <> ${draft.path}`;
    const ofOwner = sql`(select coalesce(sum(bytes), 0) from container_files
      where organization = ${draft.organization} and project = ${draft.project} and holder is null
      and not (container_id = ${containerId} and path = ${draft.path}))`;
    const { sql: text, parameters } = sql`
      update container_files set
        holder = case id when ${draft.id} then null else cast(${draft.holder} as bigint) end,
        bytes = case id when ${draft.id} then ${bytes} else bytes end,
        upload_id = coalesce(upload_id, (select before.upload_id from container_files as before
          where before.container_id = ${containerId} and before.path = ${draft.path} and before.upload_id is not null
          order by before.number desc limit 1))
      where ((id = ${draft.id} and holder = ${draft.holder})
          or (container_id = ${containerId} and path = ${draft.path} and holder is null))
        and exists (select 1 from container_files where id = ${draft.id} and holder = ${draft.holder})
        and exists (select 1 from containers where id = ${containerId} and state = 'running'
          and expires_at > ${secondsNow()} ${KEEP_ROWS})
        and (select coalesce(sum(bytes), 0) ${others}) + ${bytes} <= ${containerBytesMax}
        and (select count(*) ${others}) < ${filesMax}
        and ${ownerBytesMax === 0 ? sql`true` : sql`${ofOwner} + ${bytes} <= ${ownerBytesMax}`}
        and ${this.#quota.hasRoom(draft, bytes)}
      returning id`.compile(this.#db);
    const { rows } = await this.#calls.query({ sql: text, parameters }, storageLock(draft));
    const ids = rows.map(({ id }: { readonly id: string }) => id);
    return ids.includes(draft.id) ? ids.filter((id) => id !== draft.id) : null;
  }

  /** Why a file could not be shown: of concurrent writes, or because the container has ended. */
  async #refuse(owner: Owner, draft: Draft, bytes: number): Promise<ContainerRefusal> {
    await this.#removals.remove([{ containerId: draft.container_id, id: draft.id, holder: draft.holder }]);
    const room = await this.#findRoom(owner, draft.container_id, draft.path);
    if ("reason" in room) return room;
    await this.#quota.requireRoom(owner, bytes);
    return bytes > room.bytesMax
      ? room.refusal
      : { reason: "container_full", bytesMax: this.#limits.containerBytesMax };
  }

  /** The maximum bytes of a file at this path, or why there can be none. */
  async #findRoom(owner: Owner, containerId: string, path: string | null): Promise<Room | ContainerRefusal> {
    const row = await findContainerRow(this.#db, owner, containerId);
    if (row === null) return { reason: "unknown_container" };
    if (!isRunning(row)) return { reason: "expired_container" };
    const { containerBytesMax, fileBytesMax, filesMax, ownerBytesMax } = this.#limits;
    const others = await this.#addUp(containerId, path);
    if (others.files >= filesMax) return { reason: "too_many_files", filesMax };
    const ofOwner = ownerBytesMax === 0 ? 0 : await this.#bytesOf(owner);
    const rooms: readonly Room[] = [
      { bytesMax: fileBytesMax, refusal: { reason: "file_too_large", bytesMax: fileBytesMax } },
      {
        bytesMax: containerBytesMax - others.bytes,
        refusal: { reason: "container_full", bytesMax: containerBytesMax },
      },
      {
        bytesMax: ownerBytesMax === 0 ? Number.MAX_SAFE_INTEGER : ownerBytesMax - ofOwner + others.replaced,
        refusal: { reason: "owner_full", bytesMax: ownerBytesMax },
      },
    ];
    return rooms.reduce((least, room) => (room.bytesMax < least.bytesMax ? room : least));
  }

  /** The other files of a container, and the bytes of the file at this path. */
  async #addUp(
    containerId: string,
    path: string | null,
  ): Promise<{ readonly files: number; readonly bytes: number; readonly replaced: number }> {
    const { rows } = await sql<{ readonly files: number; readonly bytes: number; readonly replaced: number }>`
      select count(*) filter (where path <> ${path ?? ""}) as files,
        coalesce(sum(bytes) filter (where path <> ${path ?? ""}), 0) as bytes,
        coalesce(sum(bytes) filter (where path = ${path ?? ""}), 0) as replaced
      from container_files where container_id = ${containerId} and holder is null`.execute(this.#db);
    return rows[0] ?? { files: 0, bytes: 0, replaced: 0 };
  }

  async #bytesOf(owner: Owner): Promise<number> {
    const row = await this.#db
      .selectFrom("container_files")
      .select((files) => files.fn.sum<number | null>("bytes").as("bytes"))
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .executeTakeFirst();
    return row?.bytes ?? 0;
  }

  /** Removes the contents first: a row without contents is found again, contents without a row are not. */
  async #erase({ containerId, id, holder }: HeldFile): Promise<void> {
    await this.#bytes.remove(containerId, id);
    await this.#forget({ id, holder });
  }

  async #forget({ id, holder }: Omit<HeldFile, "containerId">): Promise<void> {
    await this.#db.deleteFrom("container_files").where("id", "=", id).where("holder", "=", holder).execute();
  }
}

/** The content exceeds the remaining bytes. */
class TooManyBytes extends Error {}
