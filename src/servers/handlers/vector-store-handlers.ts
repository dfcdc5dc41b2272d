import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { StorageQuota } from "@antiphon/domain/storage.ts";
import type { PassageFinder, VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { cancelVectorStoreFileBatch } from "../../responses-api/operations/vector-stores/cancel-vector-store-file-batch.ts";
import { createVectorStore } from "../../responses-api/operations/vector-stores/create-vector-store.ts";
import { createVectorStoreFile } from "../../responses-api/operations/vector-stores/create-vector-store-file.ts";
import { createVectorStoreFileBatch } from "../../responses-api/operations/vector-stores/create-vector-store-file-batch.ts";
import { deleteVectorStore } from "../../responses-api/operations/vector-stores/delete-vector-store.ts";
import { deleteVectorStoreFile } from "../../responses-api/operations/vector-stores/delete-vector-store-file.ts";
import { getVectorStore } from "../../responses-api/operations/vector-stores/get-vector-store.ts";
import { getVectorStoreFile } from "../../responses-api/operations/vector-stores/get-vector-store-file.ts";
import { getVectorStoreFileBatch } from "../../responses-api/operations/vector-stores/get-vector-store-file-batch.ts";
import { getVectorStoreFileContent } from "../../responses-api/operations/vector-stores/get-vector-store-file-content.ts";
import { listFilesInVectorStoreBatch } from "../../responses-api/operations/vector-stores/list-files-in-vector-store-batch.ts";
import { listVectorStoreFiles } from "../../responses-api/operations/vector-stores/list-vector-store-files.ts";
import { listVectorStores } from "../../responses-api/operations/vector-stores/list-vector-stores.ts";
import { modifyVectorStore } from "../../responses-api/operations/vector-stores/modify-vector-store.ts";
import { searchVectorStore } from "../../responses-api/operations/vector-stores/search-vector-store.ts";
import { updateVectorStoreFileAttributes } from "../../responses-api/operations/vector-stores/update-vector-store-file-attributes.ts";

type VectorStoreOperation =
  | "cancelVectorStoreFileBatch"
  | "createVectorStoreFileBatch"
  | "createVectorStoreFile"
  | "createVectorStore"
  | "deleteVectorStoreFile"
  | "deleteVectorStore"
  | "getVectorStoreFileBatch"
  | "getVectorStoreFileContent"
  | "getVectorStoreFile"
  | "getVectorStore"
  | "listFilesInVectorStoreBatch"
  | "listVectorStoreFiles"
  | "listVectorStores"
  | "modifyVectorStore"
  | "searchVectorStore"
  | "updateVectorStoreFileAttributes";

export interface VectorStoreContext {
  readonly vectorStores: VectorStores;
  readonly quota: StorageQuota;
  readonly passages: PassageFinder;
}

/** The operations on vector stores and their files. */
export function vectorStoreHandlers({
  vectorStores,
  quota,
  passages,
}: VectorStoreContext): Pick<ResponsesApiHandlers<Caller>, VectorStoreOperation> {
  return {
    cancelVectorStoreFileBatch: cancelVectorStoreFileBatch(vectorStores),
    createVectorStoreFileBatch: createVectorStoreFileBatch(vectorStores, quota),
    createVectorStoreFile: createVectorStoreFile(vectorStores, quota),
    createVectorStore: createVectorStore(vectorStores, quota),
    deleteVectorStoreFile: deleteVectorStoreFile(vectorStores),
    deleteVectorStore: deleteVectorStore(vectorStores),
    getVectorStoreFileBatch: getVectorStoreFileBatch(vectorStores),
    getVectorStoreFileContent: getVectorStoreFileContent(vectorStores),
    getVectorStoreFile: getVectorStoreFile(vectorStores),
    getVectorStore: getVectorStore(vectorStores),
    listFilesInVectorStoreBatch: listFilesInVectorStoreBatch(vectorStores),
    listVectorStoreFiles: listVectorStoreFiles(vectorStores),
    listVectorStores: listVectorStores(vectorStores),
    modifyVectorStore: modifyVectorStore(vectorStores),
    searchVectorStore: searchVectorStore(passages),
    updateVectorStoreFileAttributes: updateVectorStoreFileAttributes(vectorStores),
  };
}
