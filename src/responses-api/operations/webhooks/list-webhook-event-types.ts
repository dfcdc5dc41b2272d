import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import { WEBHOOK_EVENT_TYPES } from "@antiphon/domain/webhooks.ts";
import type { Caller } from "../../access/caller.ts";

/** `GET /v1/webhook_event_types`. */
export function listWebhookEventTypes(): ResponsesApiHandlers<Caller>["listWebhookEventTypes"] {
  return async () => ({ status: 200, body: { object: "list", data: [...WEBHOOK_EVENT_TYPES] } });
}
