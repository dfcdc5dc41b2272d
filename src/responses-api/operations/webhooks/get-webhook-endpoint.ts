import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { WebhookEndpoints } from "@antiphon/domain/webhooks.ts";
import type { Caller } from "../../access/caller.ts";
import { webhookEndpointNotFound } from "../../errors/webhook-errors.ts";

/** `GET /v1/webhook_endpoints/{webhook_endpoint_id}`. */
export function getWebhookEndpoint(
  endpoints: Pick<WebhookEndpoints, "find">,
): ResponsesApiHandlers<Caller>["getWebhookEndpoint"] {
  return async ({ path: { webhook_endpoint_id: id } }, { principal: { owner } }) => {
    const endpoint = await endpoints.find(owner, id);
    if (endpoint === null) throw webhookEndpointNotFound(id);
    return { status: 200, body: endpoint };
  };
}
