import { newId } from "@antiphon/base/ids.ts";
import type {
  Response,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEventType,
} from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import { builtOnce, type StandIns } from "../database/built-once.ts";
import { dialectal, hasText, nowMs } from "../database/dialectal.ts";
import type { Database } from "../database/schema.ts";
import { storedJson } from "../database/stored-json.ts";
import type { WebhookDeliveriesTable, WebhookEndpointsTable } from "../database/webhook-tables.ts";

/** What endpoints are told of the end of a run. */
export interface EventOfEnd {
  readonly id: string;
  readonly type: WebhookEventType;
}

/** An event of a run that ends, and whose it is. */
export interface PlannedEvent extends EventOfEnd {
  readonly owner: Owner;
  readonly responseId: string;
}

/** The events of the end of a stored response. */
export function eventsOfEnd({ background, status, output }: Response): readonly EventOfEnd[] {
  const types: WebhookEventType[] = [];
  if (background === true && status !== "queued" && status !== "in_progress") types.push(`response.${status}`);
  if (output.some(({ type }) => type === "mcp_approval_request")) types.push("antiphon.response.action_required");
  const now = secondsOf(Date.now());
  return types.map((type) => ({ id: newId("evt", now), type }));
}

/** Adds a delivery for each endpoint that wants the event. */
export async function writeWebhookEvents(db: Kysely<Database>, events: readonly PlannedEvent[]): Promise<void> {
  const now = Date.now();
  for (const { owner, responseId, id, type } of events)
    await addDeliveries(db, {
      ...owner,
      id,
      type,
      subjectId: responseId,
      now,
      second: secondsOf(now),
      quoted: `"${type}"`,
    });
}

type NewEvent = Owner & {
  readonly id: string;
  readonly type: string;
  /** What it is about. */
  readonly subjectId: string;
  readonly now: number;
  readonly second: number;
  /** As it stands in the list of an endpoint. */
  readonly quoted: string;
};

const addDeliveries = builtOnce((db: Kysely<Database>, params: StandIns<NewEvent>) => {
  const due = dialectal(sql<number>`${params.value("now")}`, () => nowMs());
  // The responses of a batch are told of by the end of the batch.
  return sql<never>`${deliveriesOf((name) => sql`${params.value(name)}`, due)}
    and not exists (select 1 from batch_runs where response_id = ${params.value("subjectId")})`.compile(db);
});

/** A delivery for each endpoint that wants the event. `valueOf`: what stands for a member of the event. */
function deliveriesOf(
  valueOf: (name: Exclude<keyof NewEvent, "now">) => RawBuilder<unknown>,
  due: RawBuilder<number>,
): RawBuilder<never> {
  return sql<never>`insert into webhook_deliveries
      (endpoint_id, event_id, event_type, subject_id, created_at, state, round, attempt_count, attempts, due_at)
    select id, ${valueOf("id")}, ${valueOf("type")}, ${valueOf("subjectId")},
      ${valueOf("second")}, 'waiting', 0, 0, '[]', ${due}
    from webhook_endpoints
    where organization = ${valueOf("organization")} and project = ${valueOf("project")}
      and disabled_at is null and ${hasText("event_types", sql<string>`${valueOf("quoted")}`)}`;
}

/** Adds a delivery for each endpoint that wants to know of the end of a batch. */
export function batchNews(
  { id: subjectId, owner }: { readonly id: string; readonly owner: Owner },
  type: WebhookEventType,
): RawBuilder<never> {
  const second = secondsOf(Date.now());
  const event = { ...owner, id: newId("evt", second), type, subjectId, second, quoted: `"${type}"` };
  return deliveriesOf((name) => sql`${event[name]}`, nowMs());
}

export function shownEndpoint(row: Selectable<WebhookEndpointsTable>): WebhookEndpoint {
  return {
    id: row.id,
    object: "webhook_endpoint",
    created_at: row.created_at,
    disabled_at: row.disabled_at,
    disabled_reason: row.disabled_reason,
    event_types: storedJson<string[]>(row.event_types),
    failing_since: row.failing_since,
    name: row.name,
    signing_secret_hint: row.secret_hint,
    status: row.disabled_at === null ? "enabled" : "disabled",
    updated_at: row.updated_at,
    url: row.url,
  };
}

export function shownDelivery(row: Selectable<WebhookDeliveriesTable>): WebhookDelivery {
  return {
    id: row.event_id,
    object: "webhook_endpoint.delivery",
    attempt_count: row.attempt_count,
    attempts: storedJson<WebhookAttempt[]>(row.attempts),
    created_at: row.created_at,
    data: { id: row.subject_id },
    event_type: row.event_type,
    next_attempt_at: row.due_at === null ? null : secondsOf(row.due_at),
    status: row.state,
  };
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}
