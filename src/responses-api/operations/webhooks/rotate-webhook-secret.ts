import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { webhookEndpointNotFound } from "../../errors/webhook-errors.ts";
import type { WebhookContext } from "./create-webhook-endpoint.ts";

/** `POST /v1/webhook_endpoints/{webhook_endpoint_id}/rotate_secret`. */
export function rotateWebhookSecret({
  endpoints,
  secrets,
}: WebhookContext): ResponsesApiHandlers<Caller>["rotateWebhookSecret"] {
  return async ({ path: { webhook_endpoint_id: id }, body }, { principal: { owner } }) => {
    const { secret, ...sealed } = secrets.create(owner);
    const isOldKept = body?.keep_old_secret_active_for_24_hours ?? false;
    const endpoint = await endpoints.replaceSecret(owner, id, sealed, isOldKept);
    if (endpoint === null) throw webhookEndpointNotFound(id);
    return { status: 200, body: { ...endpoint, signing_secret: secret } };
  };
}
