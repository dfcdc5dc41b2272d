import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { Caller } from "../../access/caller.ts";
import { containerNotFound } from "../../errors/container-errors.ts";

/** `GET /v1/containers/{container_id}`: counts as a use, unless the container is expired. */
export function getContainer(containers: Containers): ResponsesApiHandlers<Caller>["getContainer"] {
  return async ({ path: { container_id: id } }, { principal: { owner } }) => {
    const container = await containers.touchContainer(owner, id);
    if (container === null) throw containerNotFound(id);
    return { status: 200, body: container };
  };
}
