import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { Caller } from "../../access/caller.ts";
import { cursorNotFound } from "../../errors/state-errors.ts";
import { listBody } from "../../show/list-body.ts";

const PAGE_ENTRIES_DEFAULT = 20;

/** `GET /v1/containers`: the owner's containers, newest first by default. Does not count as a use of them. */
export function listContainers(containers: Containers): ResponsesApiHandlers<Caller>["listContainers"] {
  return async ({ query }, { principal: { owner } }) => {
    const { limit = PAGE_ENTRIES_DEFAULT, order = "desc", after = null, name = null } = query;
    const page = await containers.listContainers(owner, { limit, order, after, name });
    if (page === null) throw cursorNotFound(after ?? "");
    return { status: 200, body: listBody(page) };
  };
}
