import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import {
  WEBHOOK_ENDPOINTS_MAX,
  type WebhookEndpoints,
  type WebhookPost,
  type WebhookSecrets,
} from "@antiphon/domain/webhooks.ts";
import type { Caller } from "../../access/caller.ts";
import { invalidWebhookUrl, tooManyWebhookEndpoints } from "../../errors/webhook-errors.ts";

export interface WebhookContext {
  readonly endpoints: WebhookEndpoints;
  readonly secrets: WebhookSecrets;
  readonly post: WebhookPost;
}

/** `POST /v1/webhook_endpoints`: the only reply besides that of a rotation that has the signing secret. */
export function createWebhookEndpoint({
  endpoints,
  secrets,
}: WebhookContext): ResponsesApiHandlers<Caller>["createWebhookEndpoint"] {
  return async ({ body: { name, url, event_types: eventTypes } }, { principal: { owner } }) => {
    requireWebhookUrl(url);
    const { secret, ...sealed } = secrets.create(owner);
    const endpoint = await endpoints.create(owner, { name, url, eventTypes, secret: sealed });
    if (endpoint === null) throw tooManyWebhookEndpoints(WEBHOOK_ENDPOINTS_MAX);
    return { status: 200, body: { ...endpoint, signing_secret: secret } };
  };
}

/** Whether its address may be called is seen with each event, since names change their addresses. */
export function requireWebhookUrl(text: string): void {
  const url = URL.parse(text);
  if (url === null) throw invalidWebhookUrl("this is no URL.");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw invalidWebhookUrl("it is neither https nor http.");
  if (url.username !== "" || url.password !== "") throw invalidWebhookUrl("it holds a user name or a password.");
  if (url.hash !== "") throw invalidWebhookUrl("it holds a fragment.");
}
