import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import {
  createWebhookEndpoint,
  type WebhookContext,
} from "../../responses-api/operations/webhooks/create-webhook-endpoint.ts";
import { deleteWebhookEndpoint } from "../../responses-api/operations/webhooks/delete-webhook-endpoint.ts";
import { getWebhookEndpoint } from "../../responses-api/operations/webhooks/get-webhook-endpoint.ts";
import { listWebhookDeliveries } from "../../responses-api/operations/webhooks/list-webhook-deliveries.ts";
import { listWebhookEndpoints } from "../../responses-api/operations/webhooks/list-webhook-endpoints.ts";
import { listWebhookEventTypes } from "../../responses-api/operations/webhooks/list-webhook-event-types.ts";
import { redeliverWebhook } from "../../responses-api/operations/webhooks/redeliver-webhook.ts";
import { rotateWebhookSecret } from "../../responses-api/operations/webhooks/rotate-webhook-secret.ts";
import { testWebhookEndpoint } from "../../responses-api/operations/webhooks/test-webhook-endpoint.ts";
import { updateWebhookEndpoint } from "../../responses-api/operations/webhooks/update-webhook-endpoint.ts";

type WebhookOperation =
  | "createWebhookEndpoint"
  | "deleteWebhookEndpoint"
  | "getWebhookEndpoint"
  | "listWebhookDeliveries"
  | "listWebhookEndpoints"
  | "listWebhookEventTypes"
  | "redeliverWebhook"
  | "rotateWebhookSecret"
  | "testWebhookEndpoint"
  | "updateWebhookEndpoint";

/** The operations on endpoints of webhooks, and on what they were sent. */
export function webhookHandlers(context: WebhookContext): Pick<ResponsesApiHandlers<Caller>, WebhookOperation> {
  const { endpoints } = context;
  return {
    createWebhookEndpoint: createWebhookEndpoint(context),
    deleteWebhookEndpoint: deleteWebhookEndpoint(endpoints),
    getWebhookEndpoint: getWebhookEndpoint(endpoints),
    listWebhookDeliveries: listWebhookDeliveries(endpoints),
    listWebhookEndpoints: listWebhookEndpoints(endpoints),
    listWebhookEventTypes: listWebhookEventTypes(),
    redeliverWebhook: redeliverWebhook(endpoints),
    rotateWebhookSecret: rotateWebhookSecret(context),
    testWebhookEndpoint: testWebhookEndpoint(context),
    updateWebhookEndpoint: updateWebhookEndpoint(endpoints),
  };
}
