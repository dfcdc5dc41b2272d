import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
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
import type { ResponseServices } from "../../responses-api/services.ts";

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

/** The operations on vector stores and their files. */
export function vectorStoreHandlers(
  services: ResponseServices,
): Pick<ResponsesApiHandlers<Caller>, VectorStoreOperation> {
  return {
    cancelVectorStoreFileBatch: cancelVectorStoreFileBatch(services),
    createVectorStoreFileBatch: createVectorStoreFileBatch(services),
    createVectorStoreFile: createVectorStoreFile(services),
    createVectorStore: createVectorStore(services),
    deleteVectorStoreFile: deleteVectorStoreFile(services),
    deleteVectorStore: deleteVectorStore(services),
    getVectorStoreFileBatch: getVectorStoreFileBatch(services),
    getVectorStoreFileContent: getVectorStoreFileContent(services),
    getVectorStoreFile: getVectorStoreFile(services),
    getVectorStore: getVectorStore(services),
    listFilesInVectorStoreBatch: listFilesInVectorStoreBatch(services),
    listVectorStoreFiles: listVectorStoreFiles(services),
    listVectorStores: listVectorStores(services),
    modifyVectorStore: modifyVectorStore(services),
    searchVectorStore: searchVectorStore(services),
    updateVectorStoreFileAttributes: updateVectorStoreFileAttributes(services),
  };
}
