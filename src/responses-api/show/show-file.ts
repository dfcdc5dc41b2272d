import type { FileObject } from "@antiphon/contracts/responses-api/types.ts";
import type { StoredFile } from "@antiphon/domain/files.ts";

/** The API's form of a stored file. */
export function showFile({ id, purpose, filename, bytes, createdAt, expiresAt }: StoredFile): FileObject {
  return {
    object: "file",
    id,
    purpose,
    filename,
    bytes,
    created_at: createdAt,
    ...(expiresAt === null ? {} : { expires_at: expiresAt }),
    status: "processed",
  };
}
