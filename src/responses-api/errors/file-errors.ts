import type { ApiError } from "@antiphon/base/api-error.ts";
import { quotaReached } from "./container-errors.ts";
import { invalidRequest } from "./invalid-request.ts";

/** The error for unknown files. Deleted and expired files, and files of other owners, get the same error. */
export function fileNotFound(id: string): ApiError {
  return invalidRequest(404, null, "id", `No such File object: ${id}`);
}

export function fileEmpty(): ApiError {
  return invalidRequest(400, null, "file", "File is empty.");
}

/** Batches of other owners get the same error. */
export function batchNotFound(id: string): ApiError {
  return invalidRequest(404, null, null, `No batch found with id '${id}'.`);
}

export function wrongFilePurpose(purpose: string): ApiError {
  const message = `The input file of a batch has the purpose 'batch', and this one has '${purpose}'.`;
  return invalidRequest(400, "invalid_value", "input_file_id", message);
}

export function batchFileTooLarge(bytesMax: number): ApiError {
  const message = `The input file of a batch may have at most ${bytesMax} bytes.`;
  return invalidRequest(400, "invalid_value", "input_file_id", message);
}

export function tooManyBatches(batchesMax: number): ApiError {
  return quotaReached(`This project may have at most ${batchesMax} batches that are not over. Wait, or cancel some.`);
}

/** A member that a line of a batch cannot have. */
export function notInBatch(member: string): ApiError {
  return invalidRequest(400, "invalid_value", member, `'${member}' cannot be used in a line of a batch.`);
}

/** The key that made a batch was revoked, or has expired. */
export function batchKeyGone(): ApiError {
  const message = "The API key that created the batch is not valid any more.";
  return invalidRequest(401, "invalid_api_key", null, message);
}
