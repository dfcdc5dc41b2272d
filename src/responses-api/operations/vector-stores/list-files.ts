import type { ListVectorStoreFilesCall } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStoreFileList } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import { fileBatchNotFound, listCursorNotFound, vectorStoreNotFound } from "../../errors/vector-store-errors.ts";
import { listBody } from "../../show/list-body.ts";
import { storeFilePage } from "../../vector-store-requests/list-page.ts";

interface Asked {
  readonly storeId: string;
  /** Null for all files of the store. */
  readonly batchId: string | null;
  readonly query: ListVectorStoreFilesCall["query"];
}

/** A page of the files of a store or of a batch. */
export async function listFiles(
  vectorStores: VectorStores,
  owner: Owner,
  { storeId, batchId, query }: Asked,
): Promise<VectorStoreFileList> {
  const page = await vectorStores.listFiles(owner, storeId, storeFilePage(query, batchId));
  if (page !== null) return listBody(page);
  if ((await vectorStores.findStore(owner, storeId)) === null) throw vectorStoreNotFound(storeId);
  if (batchId !== null && (await vectorStores.findBatch(owner, storeId, batchId)) === null)
    throw fileBatchNotFound(storeId, batchId);
  throw listCursorNotFound(query);
}
