import type { Owner } from "@antiphon/domain/owner.ts";
import type { StoreFilePageRequest, VectorStorePageRequest } from "@antiphon/domain/vector-stores.ts";
import type { Kysely } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { StoreFileRow, StoreRow } from "./vector-store-rows.ts";

/** Rows of one page, and whether more follow. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** The exclusive bounds of a page as numbers; null for an open side. */
interface PageEnds {
  readonly after: number | null;
  readonly before: number | null;
}

/** Null if a cursor is unknown. */
export async function pageOfStores(
  db: Kysely<Database>,
  owner: Owner,
  page: VectorStorePageRequest,
): Promise<RowPage<StoreRow> | null> {
  const ends = await findEnds(page, async (id) => {
    const row = await storesOf(db, owner).select("number").where("id", "=", id).executeTakeFirst();
    return row?.number ?? null;
  });
  if (ends === null) return null;
  const [from, to] = page.order === "asc" ? ([">", "<"] as const) : (["<", ">"] as const);
  const rows = await storesOf(db, owner)
    .selectAll()
    .$if(ends.after !== null, (query) => query.where("number", from, ends.after))
    .$if(ends.before !== null, (query) => query.where("number", to, ends.before))
    .orderBy("number", page.order)
    .limit(page.limit + 1)
    .execute();
  return { rows: rows.slice(0, page.limit), hasMore: rows.length > page.limit };
}

/** Null if a cursor is unknown. `batchNumber` is null for all files of the store. */
export async function pageOfFiles(
  db: Kysely<Database>,
  storeNumber: number,
  page: StoreFilePageRequest,
  batchNumber: number | null,
): Promise<RowPage<StoreFileRow> | null> {
  const files = db.selectFrom("vector_store_files").where("store_number", "=", storeNumber);
  const ends = await findEnds(page, async (id) => {
    const row = await files.select("number").where("file_id", "=", id).executeTakeFirst();
    return row?.number ?? null;
  });
  if (ends === null) return null;
  const [from, to] = page.order === "asc" ? ([">", "<"] as const) : (["<", ">"] as const);
  const rows = await files
    .selectAll()
    .$if(batchNumber !== null, (query) => query.where("batch_number", "=", batchNumber))
    .$if(page.status !== null, (query) => query.where((row) => row(row.cast("status", "text"), "=", page.status)))
    .$if(ends.after !== null, (query) => query.where("number", from, ends.after ?? 0))
    .$if(ends.before !== null, (query) => query.where("number", to, ends.before ?? 0))
    .orderBy("number", page.order)
    .limit(page.limit + 1)
    .execute();
  return { rows: rows.slice(0, page.limit), hasMore: rows.length > page.limit };
}

export function storesOf(db: Kysely<Database>, owner: Owner) {
  return db
    .selectFrom("vector_stores")
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project);
}

async function findEnds(
  { after, before }: Pick<VectorStorePageRequest, "after" | "before">,
  find: (id: string) => Promise<number | null>,
): Promise<PageEnds | null> {
  const ends = {
    after: after === null ? null : await find(after),
    before: before === null ? null : await find(before),
  };
  const isKnown = (after === null || ends.after !== null) && (before === null || ends.before !== null);
  return isKnown ? ends : null;
}
