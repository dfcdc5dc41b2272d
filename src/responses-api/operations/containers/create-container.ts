import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { containerToCreate } from "../../checks/container-to-create.ts";
import { containerRefused } from "../../errors/container-errors.ts";
import type { ResponseServices } from "../../services.ts";

/** `POST /v1/containers`: creates a container with copies of uploaded files. */
export function createContainer(
  services: Pick<ResponseServices, "containers" | "quota" | "containerMemoryMax">,
): ResponsesApiHandlers<Caller>["createContainer"] {
  return async ({ body }, { principal: { owner }, signal }) => {
    const container = containerToCreate(body, services.containerMemoryMax);
    await services.quota.requireRoom(owner);
    const created = await services.containers.createContainer(owner, container, signal);
    if (created.type === "refused") throw containerRefused(created.refusal, "", "file_ids");
    return { status: 200, body: created.result };
  };
}
