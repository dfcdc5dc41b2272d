import type { ResponsesApi } from "../../../packages/client/src/index.ts";

type EventType = ResponsesApi.WebhookEventType;

const KNOWN: Readonly<Record<EventType, true>> = {
  "response.completed": true,
  "response.failed": true,
  "response.incomplete": true,
  "response.cancelled": true,
  "antiphon.response.action_required": true,
  "batch.completed": true,
  "batch.failed": true,
  "batch.expired": true,
  "batch.cancelled": true,
};

/** Whether the page knows this type of event. */
export function isEventType(type: unknown): type is EventType {
  return typeof type === "string" && Object.hasOwn(KNOWN, type);
}

/** Every type of event, as the form lists them. */
export const EVENT_TYPES: readonly EventType[] = Object.keys(KNOWN).filter(isEventType);
