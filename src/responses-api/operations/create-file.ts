import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../access/context.ts";
import type { FileStore } from "../ports.ts";
import { showFile } from "../show/show-file.ts";

/** `POST /v1/files`: keeps an uploaded file. `checkFileUpload` has looked at its parts. */
export function createFile(files: Pick<FileStore, "createFile">): ResponsesApiHandlers<ApiContext>["createFile"] {
  return async ({ body: { file, purpose, expires_after: expiry } }, { principal, signal }) => {
    const incoming = {
      purpose,
      filename: file.filename,
      mimeType: file.mimeType,
      content: file.read(),
      expiresAfter: expiry?.seconds ?? null,
    };
    return { status: 200, body: showFile(await files.createFile(principal.owner, incoming, signal)) };
  };
}
