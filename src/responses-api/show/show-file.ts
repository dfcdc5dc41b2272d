import type { FileObject } from "../../../generated/responses-api/types.ts";
import type { StoredFile } from "../../domain/files.ts";

/** A stored file as the API shows it. */
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
