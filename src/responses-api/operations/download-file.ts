import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { fileNotFound } from "../errors/file-errors.ts";
import type { ResponseServices } from "../services.ts";

/** `GET /v1/files/{file_id}/content`: the bytes as uploaded, as an attachment that browsers do not display. */
export function downloadFile(services: Pick<ResponseServices, "files">): ResponsesApiHandlers<Caller>["downloadFile"] {
  return async ({ path: { file_id: id } }, { principal }) => {
    const found = await services.files.streamFile(principal.owner, id);
    if (found === null) throw fileNotFound(id);
    return {
      status: 200,
      headers: { "content-disposition": attachment(found.file.filename) },
      contentType: "application/octet-stream",
      bytes: { size: found.file.bytes, chunks: found.content },
    };
  };
}

/**
 * The file name in both forms of RFC 6266. The plain form, for old clients, has `_` in place of unsupported characters.
 */
function attachment(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const extended = encodeURIComponent(filename.toWellFormed()).replaceAll(/['()*!]/g, percentEncoded);
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended}`;
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
