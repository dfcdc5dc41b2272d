import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { WebhookEndpoints } from "@antiphon/domain/webhooks.ts";
import type { Caller } from "../../access/caller.ts";
import { webhookEndpointNotFound } from "../../errors/webhook-errors.ts";

/** `DELETE /v1/webhook_endpoints/{webhook_endpoint_id}`: its deliveries go along. */
export function deleteWebhookEndpoint(
  endpoints: Pick<WebhookEndpoints, "delete">,
): ResponsesApiHandlers<Caller>["deleteWebhookEndpoint"] {
  return async ({ path: { webhook_endpoint_id: id } }, { principal: { owner } }) => {
    if (!(await endpoints.delete(owner, id))) throw webhookEndpointNotFound(id);
    return { status: 200, body: { id, object: "webhook_endpoint.deleted", deleted: true } };
  };
}
