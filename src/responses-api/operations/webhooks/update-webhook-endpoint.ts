import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { WebhookEndpoints } from "@antiphon/domain/webhooks.ts";
import type { Caller } from "../../access/caller.ts";
import { webhookEndpointNotFound } from "../../errors/webhook-errors.ts";
import { requireWebhookUrl } from "./create-webhook-endpoint.ts";

/** `POST /v1/webhook_endpoints/{webhook_endpoint_id}`. */
export function updateWebhookEndpoint(
  endpoints: Pick<WebhookEndpoints, "update">,
): ResponsesApiHandlers<Caller>["updateWebhookEndpoint"] {
  return async ({ path: { webhook_endpoint_id: id }, body }, { principal: { owner } }) => {
    if (body.url !== undefined) requireWebhookUrl(body.url);
    const endpoint = await endpoints.update(owner, id, body);
    if (endpoint === null) throw webhookEndpointNotFound(id);
    return { status: 200, body: endpoint };
  };
}
