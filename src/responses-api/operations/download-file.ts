import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { FileStore } from "@antiphon/domain/files.ts";
import type { Caller } from "../access/caller.ts";
import { fileNotFound } from "../errors/file-errors.ts";
import { attachment } from "../show/attachment.ts";

/** `GET /v1/files/{file_id}/content`: the bytes as uploaded, as an attachment that browsers do not display. */
export function downloadFile(files: FileStore): ResponsesApiHandlers<Caller>["downloadFile"] {
  return async ({ path: { file_id: id } }, { principal }) => {
    const stream = await files.streamFile(principal.owner, id);
    if (stream === null) throw fileNotFound(id);
    return {
      status: 200,
      headers: { "content-disposition": attachment(stream.file.filename) },
      contentType: "application/octet-stream",
      bytes: { size: stream.file.bytes, chunks: stream.content },
    };
  };
}
