import { newId } from "@antiphon/base/ids.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { WebhookEvent } from "@antiphon/domain/webhooks.ts";
import type { Caller } from "../../access/caller.ts";
import { webhookEndpointNotFound, webhookTestFailed } from "../../errors/webhook-errors.ts";
import type { WebhookContext } from "./create-webhook-endpoint.ts";

/** `POST /v1/webhook_endpoints/{webhook_endpoint_id}/test`: sends an event about a response that does not exist. */
export function testWebhookEndpoint({
  endpoints,
  post,
}: WebhookContext): ResponsesApiHandlers<Caller>["testWebhookEndpoint"] {
  return async ({ path: { webhook_endpoint_id: id }, body: { event_type: type } }, { principal, signal }) => {
    const address = await endpoints.findAddress(principal.owner, id);
    if (address === null) throw webhookEndpointNotFound(id);
    const createdAt = Math.floor(Date.now() / 1000);
    const event: WebhookEvent = { id: newId("evt", createdAt), type, createdAt, subjectId: newId("resp", createdAt) };
    const { status_code: status, error } = await post.send(address, event, signal);
    if (status === null) throw webhookTestFailed(error);
    return {
      status: 200,
      body: {
        object: "webhook_endpoint.test",
        event_type: type,
        status_code: status,
        success: true,
        webhook_endpoint_id: id,
      },
    };
  };
}
