import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../../responses-api/access/context.ts";
import { createFile } from "../../responses-api/operations/create-file.ts";
import { deleteFile } from "../../responses-api/operations/delete-file.ts";
import { downloadFile } from "../../responses-api/operations/download-file.ts";
import { getFile } from "../../responses-api/operations/get-file.ts";
import { listFiles } from "../../responses-api/operations/list-files.ts";
import type { FileStore } from "../../responses-api/ports.ts";

type FileOperation = "createFile" | "deleteFile" | "downloadFile" | "getFile" | "listFiles";

/** The operations on uploaded files. */
export function fileHandlers(files: FileStore): Pick<ResponsesApiHandlers<ApiContext>, FileOperation> {
  return {
    createFile: createFile(files),
    deleteFile: deleteFile(files),
    downloadFile: downloadFile(files),
    getFile: getFile(files),
    listFiles: listFiles(files),
  };
}
