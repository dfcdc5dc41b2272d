import type { WebhookDelivery, WebhookEndpoint } from "@antiphon/contracts/responses-api/types.ts";
import type { Generated } from "kysely";

/** The addresses of webhooks. Times are Unix seconds. */
export interface WebhookEndpointsTable {
  /** Increases with each endpoint. */
  readonly number: Generated<number>;
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly name: string;
  readonly url: string;
  /** A JSON list. */
  readonly event_types: string;
  /** The signing secret, sealed. */
  readonly secret: string;
  readonly secret_hint: string;
  /** The secret before the latest rotation, sealed; null if nothing is signed with it. */
  readonly old_secret: string | null;
  readonly old_secret_until: number | null;
  /** The first of the failed attempts since the last one that was accepted. */
  readonly failing_since: number | null;
  readonly disabled_at: number | null;
  readonly disabled_reason: WebhookEndpoint["disabled_reason"];
}

/** Events on their way to endpoints: one row for each event and endpoint. */
export interface WebhookDeliveriesTable {
  /** Increases with each delivery. */
  readonly number: Generated<number>;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  /** What the event is about. */
  readonly subject_id: string;
  /** The time of the event in Unix seconds. */
  readonly created_at: number;
  readonly state: WebhookDelivery["status"];
  /** The failed attempts since the event, or since the last time that a client had it delivered again. */
  readonly round: number;
  readonly attempt_count: number;
  /** The latest attempts: a JSON list. */
  readonly attempts: string;
  /** No attempt begins before this time, in Unix milliseconds; null if none will follow. */
  readonly due_at: number | null;
  /** The worker that is sending it; null if none is. */
  readonly worker: number | null;
}
