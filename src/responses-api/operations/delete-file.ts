import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { fileNotFound } from "../errors/file-errors.ts";
import type { ResponseServices } from "../services.ts";

/** `DELETE /v1/files/{file_id}`: removes a file and its bytes. */
export function deleteFile(services: Pick<ResponseServices, "files">): ResponsesApiHandlers<Caller>["deleteFile"] {
  return async ({ path: { file_id: id } }, { principal }) => {
    if (!(await services.files.deleteFile(principal.owner, id))) throw fileNotFound(id);
    return { status: 200, body: { id, object: "file", deleted: true } };
  };
}
