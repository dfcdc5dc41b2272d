import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { WebhookEndpoints } from "@antiphon/domain/webhooks.ts";
import type { Caller } from "../../access/caller.ts";
import { cursorNotFound } from "../../errors/state-errors.ts";
import { webhookEndpointNotFound } from "../../errors/webhook-errors.ts";
import { listBody } from "../../show/list-body.ts";

const PAGE_ENTRIES_DEFAULT = 20;

/** `GET /v1/webhook_endpoints/{webhook_endpoint_id}/deliveries`: newest first. */
export function listWebhookDeliveries(
  endpoints: Pick<WebhookEndpoints, "find" | "listDeliveries">,
): ResponsesApiHandlers<Caller>["listWebhookDeliveries"] {
  return async ({ path: { webhook_endpoint_id: id }, query }, { principal: { owner } }) => {
    const { limit = PAGE_ENTRIES_DEFAULT, after = null } = query;
    if ((await endpoints.find(owner, id)) === null) throw webhookEndpointNotFound(id);
    const page = await endpoints.listDeliveries(owner, id, { limit, order: "desc", after });
    if (page === null) throw cursorNotFound(after ?? "");
    return { status: 200, body: listBody(page) };
  };
}
