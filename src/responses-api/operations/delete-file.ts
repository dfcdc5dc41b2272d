import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { FileStore } from "@antiphon/domain/files.ts";
import type { Caller } from "../access/caller.ts";
import { fileNotFound } from "../errors/file-errors.ts";

/** `DELETE /v1/files/{file_id}`: removes a file and its bytes. */
export function deleteFile(files: FileStore): ResponsesApiHandlers<Caller>["deleteFile"] {
  return async ({ path: { file_id: id } }, { principal }) => {
    if (!(await files.deleteFile(principal.owner, id))) throw fileNotFound(id);
    return { status: 200, body: { id, object: "file", deleted: true } };
  };
}
