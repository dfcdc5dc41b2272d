import type {
  UpdateWebhookEndpointRequest,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEventType,
} from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "./owner.ts";
import type { PageRequest } from "./responses.ts";
import type { ListPage } from "./vector-stores.ts";

/** The maximum endpoints of an owner. */
export const WEBHOOK_ENDPOINTS_MAX = 100;
/** How long deliveries are listed, in seconds: 30 days. */
export const DELIVERY_LIFE_SECONDS = 30 * 86_400;
/** How long a replaced secret signs beside the new one, if the client asks for it, in seconds. */
export const OLD_SECRET_SECONDS = 86_400;
/** The types of events, in the order of their names. */
export const WEBHOOK_EVENT_TYPES = [
  "antiphon.response.action_required",
  "batch.cancelled",
  "batch.completed",
  "batch.expired",
  "batch.failed",
  "response.cancelled",
  "response.completed",
  "response.failed",
  "response.incomplete",
] as const satisfies readonly WebhookEventType[];

/** What an endpoint is told. */
export interface WebhookEvent {
  /** Begins with `evt_`. The same in all attempts and for all endpoints. */
  readonly id: string;
  readonly type: string;
  /** In Unix seconds. */
  readonly createdAt: number;
  /** What it is about, such as a response. */
  readonly subjectId: string;
}

/** A signing secret that only the server can open. */
export interface SealedSecret {
  readonly sealedText: string;
  /** Its end, for people. */
  readonly hint: string;
}

export interface NewWebhookEndpoint {
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly WebhookEventType[];
  readonly secret: SealedSecret;
}

/** Where and with what an event is sent. */
export interface WebhookAddress {
  readonly owner: Owner;
  readonly endpointId: string;
  readonly url: string;
  /** The newest first. */
  readonly sealedSecrets: readonly string[];
}

/** Why an event is not delivered again. */
export type Redelivery =
  | { readonly type: "waiting"; readonly delivery: WebhookDelivery }
  | { readonly type: "disabled" }
  | { readonly type: "unknown" };

/** Endpoints and what was sent to them. Unknown ids and ids of other owners give `null` or `false`. */
export interface WebhookEndpoints {
  /** Null if the owner has `WEBHOOK_ENDPOINTS_MAX`. */
  create(owner: Owner, endpoint: NewWebhookEndpoint): Promise<WebhookEndpoint | null>;
  find(owner: Owner, id: string): Promise<WebhookEndpoint | null>;
  /** In the order of their creation; null if the cursor is unknown. */
  list(owner: Owner, page: PageRequest): Promise<ListPage<WebhookEndpoint> | null>;
  /** Ends the deliveries of an endpoint that is turned off. */
  update(owner: Owner, id: string, changes: UpdateWebhookEndpointRequest): Promise<WebhookEndpoint | null>;
  /** With its deliveries. */
  delete(owner: Owner, id: string): Promise<boolean>;
  /** `isOldKept`: whether the old secret signs too for `OLD_SECRET_SECONDS`. */
  replaceSecret(owner: Owner, id: string, secret: SealedSecret, isOldKept: boolean): Promise<WebhookEndpoint | null>;
  findAddress(owner: Owner, id: string): Promise<WebhookAddress | null>;
  /** In the order of the events; null if the cursor is unknown. */
  listDeliveries(owner: Owner, id: string, page: PageRequest): Promise<ListPage<WebhookDelivery> | null>;
  /** Makes an event due, as if it were new. Changes nothing while it is being sent. */
  redeliver(owner: Owner, id: string, eventId: string): Promise<Redelivery>;
}

/** An event that this process sends. No other process does until it is settled, released, or this process dies. */
export interface DueDelivery {
  readonly number: number;
  readonly worker: number;
  readonly event: WebhookEvent;
  readonly address: WebhookAddress;
  /** The failed attempts so far, of this round. */
  readonly round: number;
  /** The latest attempts, oldest first. */
  readonly attempts: readonly WebhookAttempt[];
}

export type DeliveryClaim =
  | { readonly type: "due"; readonly delivery: DueDelivery }
  /** `dueInMs`: when the next one will be due; null if none waits. */
  | { readonly type: "none"; readonly dueInMs: number | null };

/** What follows an attempt. */
export type AfterAttempt =
  | { readonly type: "delivered" }
  | { readonly type: "again"; readonly pauseMs: number }
  /** No further attempt. */
  | { readonly type: "over" }
  /** The endpoint wants no events any more. */
  | { readonly type: "gone" };

/** The queue of events for all endpoints of the database. */
export interface WebhookQueue {
  /** Calls the listener when this process has made events due. */
  listen(listener: () => void): void;
  /** Takes the event that has been due longest, of none of these endpoints. */
  claim(exceptEndpoints: readonly string[]): Promise<DeliveryClaim>;
  /** Notes an attempt, and turns off an endpoint that has failed for too long. False if the event is another's. */
  settle(delivery: DueDelivery, attempt: WebhookAttempt, next: AfterAttempt): Promise<boolean>;
  /** Leaves the events that this process holds, other than these, to whoever claims them next. */
  releaseOthers(ownDeliveries: readonly DueDelivery[]): Promise<void>;
  /** The number of events that wait, and the age of the one that has been due longest, in milliseconds. */
  load(): Promise<{ readonly waiting: number; readonly oldestDueMs: number }>;
  /** Forgets some of the events before this time, in Unix seconds. Resolves to their number. */
  deleteOld(before: number): Promise<number>;
}

/** What is stored of webhooks. */
export interface WebhookStore {
  readonly endpoints: WebhookEndpoints;
  readonly queue: WebhookQueue;
}

/** Signing secrets: `whsec_` and a key in base64. */
export interface WebhookSecrets {
  create(owner: Owner): SealedSecret & { readonly secret: string };
  /** Null if it cannot be opened with the server's keys. */
  open(owner: Owner, sealedText: string): string | null;
}

/** Sends an event once. */
export interface WebhookPost {
  /** Rejects only if `signal` aborts. */
  send(address: WebhookAddress, event: WebhookEvent, signal: AbortSignal): Promise<WebhookAttempt>;
}
