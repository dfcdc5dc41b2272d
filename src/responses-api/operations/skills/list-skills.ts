import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { cursorNotFound } from "../../errors/state-errors.ts";
import { listBody } from "../../show/list-body.ts";

const PAGE_ENTRIES_DEFAULT = 20;

/** `GET /v1/skills`: the owner's skills, newest first by default. */
export function listSkills(skills: Skills): ResponsesApiHandlers<Caller>["listSkills"] {
  return async ({ query }, { principal: { owner } }) => {
    const { limit = PAGE_ENTRIES_DEFAULT, order = "desc", after = null } = query;
    const page = await skills.listSkills(owner, { limit, order, after });
    if (page === null) throw cursorNotFound(after ?? "");
    return { status: 200, body: listBody(page) };
  };
}
