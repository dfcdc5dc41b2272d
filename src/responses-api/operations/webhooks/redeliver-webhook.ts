import { assertNever } from "@antiphon/base/assert.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { WebhookEndpoints } from "@antiphon/domain/webhooks.ts";
import type { Caller } from "../../access/caller.ts";
import { webhookDeliveryNotFound, webhookEndpointDisabled } from "../../errors/webhook-errors.ts";

/** `POST /v1/webhook_endpoints/{webhook_endpoint_id}/deliveries/{event_id}/redeliver`. */
export function redeliverWebhook(
  endpoints: Pick<WebhookEndpoints, "redeliver">,
): ResponsesApiHandlers<Caller>["redeliverWebhook"] {
  return async ({ path: { webhook_endpoint_id: id, event_id: eventId } }, { principal: { owner } }) => {
    const redelivery = await endpoints.redeliver(owner, id, eventId);
    switch (redelivery.type) {
      case "waiting":
        return { status: 200, body: redelivery.delivery };
      case "disabled":
        throw webhookEndpointDisabled(id);
      case "unknown":
        throw webhookDeliveryNotFound(id, eventId);
      default:
        return assertNever(redelivery);
    }
  };
}
