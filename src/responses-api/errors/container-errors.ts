import { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import type { ContainerRefusal } from "@antiphon/domain/containers.ts";
import { invalidRequest } from "./invalid-request.ts";

/**
 * Deleted containers, and containers of other owners, get the same error. `param`: the member that names it, if any.
 */
export function containerNotFound(id: string, param: string | null = null): ApiError {
  return invalidRequest(404, null, param, `Container with id '${id}' not found.`);
}

export function containerExpired(param: string | null = null): ApiError {
  return invalidRequest(400, null, param, "Container is expired.");
}

export function containerFileNotFound(containerId: string, fileId: string): ApiError {
  return invalidRequest(404, null, null, `No file found with id '${fileId}' in container '${containerId}'.`);
}

/** The error when a container cannot be created or filled. `fileParam`: the member that names files. */
export function containerRefused(refusal: ContainerRefusal, containerId: string, fileParam: string): ApiError {
  switch (refusal.reason) {
    case "unknown_container":
      return containerNotFound(containerId);
    case "expired_container":
      return containerExpired();
    case "unknown_upload":
      return invalidRequest(404, null, fileParam, `No such File object: ${refusal.fileId}`);
    case "file_too_large":
      return invalidRequest(400, null, fileParam, `A file in a container may have at most ${refusal.bytesMax} bytes.`);
    case "container_full":
      return invalidRequest(
        400,
        null,
        fileParam,
        `The files of a container may have at most ${refusal.bytesMax} bytes together. Remove files from it.`,
      );
    case "too_many_files":
      return invalidRequest(
        400,
        null,
        fileParam,
        `A container may have at most ${refusal.filesMax} files. Remove files from it.`,
      );
    case "too_many_containers":
      return quotaReached(`This project may have at most ${refusal.containersMax} containers at a time. Delete some.`);
    case "owner_full":
      return quotaReached(
        `The containers of this project hold as much as they may: ${refusal.bytesMax} bytes. Remove files from them.`,
      );
    default:
      return assertNever(refusal);
  }
}

/** Retrying cannot help, so official clients are told not to. */
export function quotaReached(message: string): ApiError {
  return new ApiError({
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message,
    headers: { "x-should-retry": "false" },
  });
}
