import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { containerFileNotFound } from "../../errors/container-errors.ts";
import type { ResponseServices } from "../../services.ts";
import { useContainer } from "./use-container.ts";

/**
 * `DELETE /v1/containers/{container_id}/files/{file_id}`: does not delete the uploaded file that it was copied from.
 */
export function deleteContainerFile(
  services: Pick<ResponseServices, "containers">,
): ResponsesApiHandlers<Caller>["deleteContainerFile"] {
  return async ({ path: { container_id: id, file_id: fileId } }, { principal: { owner } }) => {
    await useContainer(services, owner, id);
    if (!(await services.containers.removeFile(owner, id, fileId))) throw containerFileNotFound(id, fileId);
    return { status: 200, body: { id: fileId, object: "container.file.deleted", deleted: true } };
  };
}
