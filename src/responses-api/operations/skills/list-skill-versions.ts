import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { Caller } from "../../access/caller.ts";
import { skillNotFound } from "../../errors/skill-errors.ts";
import { cursorNotFound } from "../../errors/state-errors.ts";
import { listBody } from "../../show/list-body.ts";

const PAGE_ENTRIES_DEFAULT = 20;

/** `GET /v1/skills/{skill_id}/versions`: highest numbers first by default. */
export function listSkillVersions(skills: Skills): ResponsesApiHandlers<Caller>["listSkillVersions"] {
  return async ({ path: { skill_id: id }, query }, { principal: { owner } }) => {
    if ((await skills.findSkill(owner, id)) === null) throw skillNotFound(id);
    const { limit = PAGE_ENTRIES_DEFAULT, order = "desc", after = null } = query;
    const page = await skills.listVersions(owner, id, { limit, order, after });
    if (page === null) throw cursorNotFound(after ?? "");
    return { status: 200, body: listBody(page) };
  };
}
