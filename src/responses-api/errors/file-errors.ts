import type { ApiError } from "../../base/api-error.ts";
import { invalidRequest } from "./invalid-request.ts";

/** Deleted, expired and foreign files are answered as unknown ones. */
export function fileNotFound(id: string): ApiError {
  return invalidRequest(404, null, "id", `No such File object: ${id}`);
}

export function fileEmpty(): ApiError {
  return invalidRequest(400, null, "file", "File is empty.");
}
