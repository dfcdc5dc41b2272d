import { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import type { VectorStoreRefusal } from "@antiphon/domain/vector-stores.ts";
import { invalidRequest } from "./invalid-request.ts";
import { cursorNotFound } from "./state-errors.ts";

/** Deleted stores, and stores of other owners, get the same error. `param`: the member that names the store, if any. */
export function vectorStoreNotFound(id: string, param: string | null = null): ApiError {
  return invalidRequest(404, null, param, `Vector store with id '${id}' not found.`);
}

export function vectorStoreExpired(id: string, param: string | null = null): ApiError {
  return invalidRequest(400, null, param, `Vector store with id '${id}' is expired.`);
}

export function storeFileNotFound(storeId: string, fileId: string): ApiError {
  return invalidRequest(404, null, null, `No file found with id '${fileId}' in vector store '${storeId}'.`);
}

export function fileBatchNotFound(storeId: string, batchId: string): ApiError {
  return invalidRequest(404, null, null, `No file batch found with id '${batchId}' in vector store '${storeId}'.`);
}

/** The error when files cannot be added. `fileParam`: the member that names them. */
export function vectorStoreRefused(refusal: VectorStoreRefusal, storeId: string, fileParam: string): ApiError {
  switch (refusal.reason) {
    case "unknown_store":
      return vectorStoreNotFound(storeId);
    case "expired_store":
      return vectorStoreExpired(storeId);
    case "unknown_file":
      return invalidRequest(404, null, fileParam, `No such File object: ${refusal.fileId}`);
    case "full":
      return vectorStoresFull(refusal.bytesMax);
    default:
      return assertNever(refusal);
  }
}

/** The error for a cursor that is not in the list. */
export function listCursorNotFound({ after, before }: { after?: string; before?: string }): ApiError {
  if (before === undefined) return cursorNotFound(after ?? "");
  const cursors = after === undefined ? `'before': '${before}'` : `'after': '${after}' or 'before': '${before}'`;
  return invalidRequest(400, "invalid_value", "before", `Invalid ${cursors}. No item of this list has that ID.`);
}

/** Retrying cannot help, so official clients are told not to. */
function vectorStoresFull(bytesMax: number): ApiError {
  return new ApiError({
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: `The vector stores of this project hold as much as they may: ${bytesMax} bytes. Remove files from them.`,
    headers: { "x-should-retry": "false" },
  });
}
