import type { Container, ContainerFile } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Kysely, Selectable } from "kysely";
import type { ContainerFilesTable, ContainersTable } from "../../database/container-tables.ts";
import type { Database } from "../../database/schema.ts";
import { secondsNow } from "../vector-stores/store-statements.ts";

export type ContainerRow = Selectable<ContainersTable>;
export type ContainerFileRow = Selectable<ContainerFilesTable>;

export const SECONDS_A_MINUTE = 60;

/** The containers of an owner, expired ones included. */
export function containersOf(db: Kysely<Database>, owner: Owner) {
  return db
    .selectFrom("containers")
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project)
    .where("state", "<>", "deleted");
}

export async function findContainerRow(
  db: Kysely<Database>,
  owner: Owner,
  containerId: string,
): Promise<ContainerRow | null> {
  const row = await containersOf(db, owner).selectAll().where("id", "=", containerId).executeTakeFirst();
  return row ?? null;
}

/** The complete files of an unexpired container of this owner. */
export function filesOf(db: Kysely<Database>, owner: Owner, containerId: string) {
  return db
    .selectFrom("container_files")
    .where("container_id", "=", containerId)
    .where("holder", "is", null)
    .where((file) =>
      file.exists(
        containersOf(db, owner)
          .select("number")
          .where("id", "=", containerId)
          .where("state", "=", "running")
          .where("expires_at", ">", secondsNow()),
      ),
    );
}

export function isRunning(row: Pick<ContainerRow, "state" | "expires_at">): boolean {
  return row.state === "running" && row.expires_at > secondsNow();
}

export function shownContainer(row: ContainerRow): Container {
  return {
    id: row.id,
    object: "container",
    created_at: row.created_at,
    status: isRunning(row) ? "running" : "expired",
    expires_after: { anchor: "last_active_at", minutes: row.expires_after_minutes },
    last_active_at: row.last_active_at,
    memory_limit: row.memory_limit,
    name: row.name,
    network_policy: { type: "disabled" },
  };
}

export function shownContainerFile(
  row: Pick<ContainerFileRow, "id" | "bytes" | "container_id" | "created_at" | "path" | "source">,
): ContainerFile {
  return {
    id: row.id,
    object: "container.file",
    bytes: row.bytes,
    container_id: row.container_id,
    created_at: row.created_at,
    path: row.path,
    source: row.source,
  };
}
