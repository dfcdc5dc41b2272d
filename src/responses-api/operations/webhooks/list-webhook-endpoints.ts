import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { WebhookEndpoints } from "@antiphon/domain/webhooks.ts";
import type { Caller } from "../../access/caller.ts";
import { cursorNotFound } from "../../errors/state-errors.ts";
import { listBody } from "../../show/list-body.ts";

const PAGE_ENTRIES_DEFAULT = 20;

/** `GET /v1/webhook_endpoints`: newest first. */
export function listWebhookEndpoints(
  endpoints: Pick<WebhookEndpoints, "list">,
): ResponsesApiHandlers<Caller>["listWebhookEndpoints"] {
  return async ({ query: { limit = PAGE_ENTRIES_DEFAULT, after = null } }, { principal: { owner } }) => {
    const page = await endpoints.list(owner, { limit, order: "desc", after });
    if (page === null) throw cursorNotFound(after ?? "");
    return { status: 200, body: listBody(page) };
  };
}
