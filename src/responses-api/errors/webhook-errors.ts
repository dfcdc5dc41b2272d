import type { ApiError } from "@antiphon/base/api-error.ts";
import type { WebhookAttempt } from "@antiphon/contracts/responses-api/types.ts";
import { quotaReached } from "./container-errors.ts";
import { invalidRequest } from "./invalid-request.ts";

/** Deleted endpoints, and endpoints of other owners, get the same error. */
export function webhookEndpointNotFound(id: string): ApiError {
  return invalidRequest(404, null, null, `Webhook endpoint with id '${id}' not found.`);
}

export function webhookDeliveryNotFound(id: string, eventId: string): ApiError {
  return invalidRequest(404, null, null, `No event '${eventId}' found for webhook endpoint with id '${id}'.`);
}

/** `reason`: a sentence. */
export function invalidWebhookUrl(reason: string): ApiError {
  return invalidRequest(400, "invalid_value", "url", `Invalid 'url': ${reason}`);
}

export function tooManyWebhookEndpoints(endpointsMax: number): ApiError {
  return quotaReached(`This project may have at most ${endpointsMax} webhook endpoints. Delete some.`);
}

export function webhookEndpointDisabled(id: string): ApiError {
  return invalidRequest(400, null, null, `Webhook endpoint '${id}' is turned off. Turn it on first.`);
}

/** The error of a test that got no answer. */
export function webhookTestFailed(error: WebhookAttempt["error"]): ApiError {
  return invalidRequest(
    400,
    null,
    null,
    `The endpoint did not answer the sample event: ${FAILURES[error ?? "unreachable"]}`,
  );
}

const FAILURES: Readonly<Record<Exclude<WebhookAttempt["error"], null>, string>> = {
  forbidden: "this server does not call its address. The operator can allow it with EGRESS_ALLOW.",
  not_accepted: "it refused.",
  redirected: "it answered with a redirect, which this server does not follow.",
  timeout: "it took too long.",
  unreachable: "it could not be reached, or the connection broke.",
  unreadable_secret: "its signing secret cannot be opened with the keys of this server. Rotate it.",
};
