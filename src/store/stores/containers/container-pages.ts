import type { ContainerPageRequest } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { PageRequest } from "@antiphon/domain/responses.ts";
import type { Kysely, SelectQueryBuilder } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { RowPage } from "../vector-stores/store-pages.ts";
import { type ContainerFileRow, type ContainerRow, containersOf } from "./container-rows.ts";

/** Null if the cursor is unknown. */
export async function pageOfContainers(
  db: Kysely<Database>,
  owner: Owner,
  { name, order, after, limit }: ContainerPageRequest,
): Promise<RowPage<ContainerRow> | null> {
  const cursor =
    after === null ? null : await containersOf(db, owner).select("number").where("id", "=", after).executeTakeFirst();
  if (cursor === undefined) return null;
  const rows = await containersOf(db, owner)
    .selectAll()
    .$if(name !== null, (query) => query.where("name", "=", name ?? ""))
    .$if(cursor !== null, (query) => query.where("number", order === "asc" ? ">" : "<", cursor?.number ?? 0))
    .orderBy("number", order)
    .limit(limit + 1)
    .execute();
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** `files` are the files of one container. Null if the cursor is unknown. */
export async function pageOfContainerFiles(
  files: SelectQueryBuilder<Database, "container_files", unknown>,
  { order, after, limit }: PageRequest,
): Promise<RowPage<ContainerFileRow> | null> {
  const cursor = after === null ? null : await files.select("number").where("id", "=", after).executeTakeFirst();
  if (cursor === undefined) return null;
  const rows = await files
    .selectAll()
    .$if(cursor !== null, (query) => query.where("number", order === "asc" ? ">" : "<", cursor?.number ?? 0))
    .orderBy("number", order)
    .limit(limit + 1)
    .execute();
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}
