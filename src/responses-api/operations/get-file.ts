import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { FileStore } from "@antiphon/domain/files.ts";
import type { Caller } from "../access/caller.ts";
import { fileNotFound } from "../errors/file-errors.ts";
import { showFile } from "../show/show-file.ts";

/** `GET /v1/files/{file_id}`. */
export function getFile(files: FileStore): ResponsesApiHandlers<Caller>["getFile"] {
  return async ({ path: { file_id: id } }, { principal }) => {
    const file = await files.findFile(principal.owner, id);
    if (file === null) throw fileNotFound(id);
    return { status: 200, body: showFile(file) };
  };
}
