import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { Caller } from "../../access/caller.ts";
import { containerNotFound } from "../../errors/container-errors.ts";

/** `DELETE /v1/containers/{container_id}`: removes a container and its files. Uploaded files stay. */
export function deleteContainer(containers: Containers): ResponsesApiHandlers<Caller>["deleteContainer"] {
  return async ({ path: { container_id: id } }, { principal: { owner } }) => {
    if (!(await containers.deleteContainer(owner, id))) throw containerNotFound(id);
    return { status: 200, body: { id, object: "container.deleted", deleted: true } };
  };
}
