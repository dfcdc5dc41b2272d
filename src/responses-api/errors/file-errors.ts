import type { ApiError } from "@antiphon/base/api-error.ts";
import { invalidRequest } from "./invalid-request.ts";

/** The error for unknown files. Deleted and expired files, and files of other owners, get the same error. */
export function fileNotFound(id: string): ApiError {
  return invalidRequest(404, null, "id", `No such File object: ${id}`);
}

export function fileEmpty(): ApiError {
  return invalidRequest(400, null, "file", "File is empty.");
}
