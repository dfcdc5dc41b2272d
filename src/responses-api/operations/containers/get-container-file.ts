import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { Caller } from "../../access/caller.ts";
import { containerFileNotFound } from "../../errors/container-errors.ts";
import { useContainer } from "./use-container.ts";

/** `GET /v1/containers/{container_id}/files/{file_id}`. */
export function getContainerFile(containers: Containers): ResponsesApiHandlers<Caller>["getContainerFile"] {
  return async ({ path: { container_id: id, file_id: fileId } }, { principal: { owner } }) => {
    await useContainer(containers, owner, id);
    const file = await containers.findFile(owner, id, fileId);
    if (file === null) throw containerFileNotFound(id, fileId);
    return { status: 200, body: file };
  };
}
