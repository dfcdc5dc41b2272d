import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { FileStore } from "@antiphon/domain/files.ts";
import type { Caller } from "../access/caller.ts";
import { showFile } from "../show/show-file.ts";

/** `POST /v1/files`: stores an uploaded file. `checkFileUpload` has already checked its parts. */
export function createFile(files: FileStore): ResponsesApiHandlers<Caller>["createFile"] {
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
