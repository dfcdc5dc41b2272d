import type { ContainerFile } from "@antiphon/contracts/responses-api/types.ts";
import type { ContainerRefusal, Containers, KeptFile } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { StorageQuotaExceeded } from "@antiphon/domain/storage.ts";
import type { Keeping, MadeFile, StoredContainers, UsedContainer } from "@antiphon/sandbox/ports/stored-containers.ts";
import { type Kysely, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import { secondsNow } from "../vector-stores/store-statements.ts";
import type { ContainerFileWriter } from "./container-file-writer.ts";
import { isContainerPath } from "./container-path.ts";
import { filesOf, findContainerRow, isRunning, SECONDS_A_MINUTE } from "./container-rows.ts";

type Store = Pick<Containers, "removeFile" | "streamFile" | "touchContainer">;

/** The stored containers for sessions that run code. */
export class SessionContainers implements StoredContainers {
  readonly #db: Kysely<Database>;
  readonly #store: Store;
  readonly #writer: ContainerFileWriter;

  constructor(db: Kysely<Database>, store: Store, writer: ContainerFileWriter) {
    this.#db = db;
    this.#store = store;
    this.#writer = writer;
  }

  async find(owner: Owner, containerId: string): Promise<UsedContainer | null> {
    const row = await findContainerRow(this.#db, owner, containerId);
    if (row === null || !isRunning(row)) return null;
    const files = await this.#listFiles(owner, containerId);
    return { files, sessionId: row.session_id, memoryLimit: row.memory_limit };
  }

  async begin(owner: Owner, containerId: string, sessionId: string): Promise<UsedContainer | null> {
    const now = secondsNow();
    const row = await this.#db
      .updateTable("containers")
      .set({
        last_active_at: now,
        expires_at: sql<number>`${now} + expires_after_minutes * ${SECONDS_A_MINUTE}`,
        previous_session_id: (columns) => columns.ref("session_id"),
        session_id: sessionId,
      })
      .where("id", "=", containerId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where("state", "=", "running")
      .where("expires_at", ">", now)
      .returning(["previous_session_id as before", "memory_limit"])
      .executeTakeFirst();
    if (row === undefined) return null;
    const files = await this.#listFiles(owner, containerId);
    return { files, sessionId: row.before, memoryLimit: row.memory_limit };
  }

  async touch(owner: Owner, containerId: string): Promise<boolean> {
    return (await this.#store.touchContainer(owner, containerId))?.status === "running";
  }

  async read(owner: Owner, containerId: string, fileId: string): Promise<AsyncIterable<Uint8Array> | null> {
    return (await this.#store.streamFile(owner, containerId, fileId))?.content ?? null;
  }

  async keep(owner: Owner, containerId: string, { path, content }: MadeFile, signal: AbortSignal): Promise<Keeping> {
    if (path !== null && !isContainerPath(path)) return { type: "bad_path" };
    const file = { path, content, source: "assistant", uploadId: null } as const;
    try {
      const change = await this.#writer.write(owner, containerId, file, signal);
      return change.type === "changed" ? { type: "kept", file: keptFile(change.result) } : notKept(change.refusal);
    } catch (error) {
      if (error instanceof StorageQuotaExceeded) return { type: "full", of: "owner" };
      throw error;
    }
  }

  async remove(owner: Owner, containerId: string, fileId: string): Promise<void> {
    await this.#store.removeFile(owner, containerId, fileId);
  }

  async #listFiles(owner: Owner, containerId: string): Promise<readonly KeptFile[]> {
    return await filesOf(this.#db, owner, containerId).select(["id", "path", "bytes"]).orderBy("number").execute();
  }
}

function keptFile({ id, path, bytes }: ContainerFile): KeptFile {
  return { id, path, bytes };
}

function notKept({ reason }: ContainerRefusal): Keeping {
  if (reason === "unknown_container" || reason === "expired_container") return { type: "gone" };
  return { type: "full", of: reason === "owner_full" ? "owner" : "container" };
}
