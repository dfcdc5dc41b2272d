import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { fileNotFound } from "../errors/file-errors.ts";
import type { ResponseServices } from "../services.ts";
import { showFile } from "../show/show-file.ts";

/** `GET /v1/files/{file_id}`. */
export function getFile(services: Pick<ResponseServices, "files">): ResponsesApiHandlers<Caller>["getFile"] {
  return async ({ path: { file_id: id } }, { principal }) => {
    const file = await services.files.findFile(principal.owner, id);
    if (file === null) throw fileNotFound(id);
    return { status: 200, body: showFile(file) };
  };
}
