import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { Caller } from "../../access/caller.ts";
import { cursorNotFound } from "../../errors/state-errors.ts";
import { listBody } from "../../show/list-body.ts";
import { useContainer } from "./use-container.ts";

const PAGE_ENTRIES_DEFAULT = 20;

/** `GET /v1/containers/{container_id}/files`: the files of a container, newest first by default. */
export function listContainerFiles(containers: Containers): ResponsesApiHandlers<Caller>["listContainerFiles"] {
  return async ({ path: { container_id: id }, query }, { principal: { owner } }) => {
    await useContainer(containers, owner, id);
    const { limit = PAGE_ENTRIES_DEFAULT, order = "desc", after = null } = query;
    const page = await containers.listFiles(owner, id, { limit, order, after });
    if (page === null) throw cursorNotFound(after ?? "");
    return { status: 200, body: listBody(page) };
  };
}
