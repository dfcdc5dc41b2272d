import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { Caller } from "../../access/caller.ts";
import { containerFileNotFound } from "../../errors/container-errors.ts";
import { useContainer } from "./use-container.ts";

/** `DELETE /v1/containers/{container_id}/files/{file_id}`: an uploaded file that it was copied from stays. */
export function deleteContainerFile(containers: Containers): ResponsesApiHandlers<Caller>["deleteContainerFile"] {
  return async ({ path: { container_id: id, file_id: fileId } }, { principal: { owner } }) => {
    await useContainer(containers, owner, id);
    if (!(await containers.removeFile(owner, id, fileId))) throw containerFileNotFound(id, fileId);
    return { status: 200, body: { id: fileId, object: "container.file.deleted", deleted: true } };
  };
}
