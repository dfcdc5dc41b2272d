import type { WebhookAttempt } from "@antiphon/contracts/responses-api/types.ts";
import type {
  AfterAttempt,
  DeliveryClaim,
  DueDelivery,
  WebhookQueue,
  WebhookStore,
} from "@antiphon/domain/webhooks.ts";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import { nowMs, SKIP_LOCKED } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { storedJson } from "../../database/stored-json.ts";
import type { WebhookDeliveriesTable } from "../../database/webhook-tables.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { findLivingWorkers } from "../living-workers.ts";
import { compileAll } from "../vector-stores/compile-all.ts";
import { secondsNow } from "../vector-stores/store-statements.ts";
import { addressOf, endDeliveries, StoredWebhookEndpoints } from "./endpoint-store.ts";

/** How many attempts of a delivery are listed. */
const ATTEMPTS_MAX = 20;
/** An endpoint that has accepted nothing for this long is turned off, in seconds: five days. */
const FAILING_SECONDS_MAX = 5 * 86_400;
/** About as many deliveries are forgotten by one statement. */
const FORGOTTEN_MAX = 1_000;

type Calls = Pick<DatabaseCalls, "transact" | "workerNumber" | "findDeadWorkers">;

/** Endpoints and queue of one database. */
export class StoredWebhooks implements WebhookStore {
  readonly endpoints: StoredWebhookEndpoints;
  readonly queue: StoredWebhookQueue;

  constructor(db: Kysely<Database>, calls: Calls) {
    this.queue = new StoredWebhookQueue(db, calls);
    this.endpoints = new StoredWebhookEndpoints(db, calls, () => this.queue.tell());
  }
}

/** The queue in the database. The row of an event names the worker that sends it; only this worker may settle it. */
class StoredWebhookQueue implements WebhookQueue {
  readonly #db: Kysely<Database>;
  readonly #calls: Calls;
  #listener: (() => void) | null = null;

  constructor(db: Kysely<Database>, calls: Calls) {
    this.#db = db;
    this.#calls = calls;
  }

  listen(listener: () => void): void {
    this.#listener = listener;
  }

  /** Says that events may be due. */
  tell(): void {
    this.#listener?.();
  }

  async claim(exceptEndpoints: readonly string[]): Promise<DeliveryClaim> {
    await this.#releaseDead();
    for (;;) {
      const dueInMs = await this.#nextDueInMs(exceptEndpoints);
      if (dueInMs === null || dueInMs > 0) return { type: "none", dueInMs };
      const worker = await this.#calls.workerNumber();
      const row = await this.#claimNext(worker, exceptEndpoints);
      const delivery = row === null ? null : await this.#dueDelivery(row, worker);
      if (delivery !== null) return { type: "due", delivery }; // Otherwise, others were faster, or it was deleted.
    }
  }

  async settle(delivery: DueDelivery, attempt: WebhookAttempt, next: AfterAttempt): Promise<boolean> {
    const { endpointId } = delivery.address;
    const attempts = JSON.stringify([...delivery.attempts, attempt].slice(-ATTEMPTS_MAX));
    const noted = sql`update webhook_deliveries
      set worker = null, attempt_count = attempt_count + 1, attempts = ${attempts}, ${changeAfter(next)}
      where ${isHeld(delivery)}`;
    return (await this.#transact([noted, ...endpointChanges(endpointId, attempt.at, next)])) !== null;
  }

  async releaseOthers(ownDeliveries: readonly DueDelivery[]): Promise<void> {
    const worker = await this.#calls.workerNumber();
    const numbers = ownDeliveries.map(({ number }) => number);
    const butOwn = numbers.length === 0 ? sql`` : sql`and number not in (${sql.join(numbers)})`;
    await sql`update webhook_deliveries set worker = null where worker = ${worker} ${butOwn}`.execute(this.#db);
  }

  async load(): Promise<{ readonly waiting: number; readonly oldestDueMs: number }> {
    const { rows } = await sql<{ readonly waiting: number; readonly age: number | null }>`
      select count(*) as waiting, ${nowMs()} - min(due_at) as age from webhook_deliveries
      where state = 'waiting' and worker is null`.execute(this.#db);
    const [row] = rows;
    return { waiting: row?.waiting ?? 0, oldestDueMs: Math.max(0, row?.age ?? 0) };
  }

  async deleteOld(before: number): Promise<number> {
    const { rows } = await sql<{ readonly last: number | null }>`
      select max(created_at) as last from (select created_at from webhook_deliveries
        where created_at < ${before} order by created_at limit ${sql.lit(FORGOTTEN_MAX)}) as oldest`.execute(this.#db);
    const last = rows[0]?.last ?? null;
    if (last === null) return 0;
    const { numDeletedRows } = await this.#db
      .deleteFrom("webhook_deliveries")
      .where("created_at", "<=", last)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** When the next event of other endpoints is due; 0 if one is, null if none waits. */
  async #nextDueInMs(exceptEndpoints: readonly string[]): Promise<number | null> {
    const { rows } = await sql<{ readonly ms: number | null }>`
      select min(due_at) - ${nowMs()} as ms from webhook_deliveries
      where state = 'waiting' and worker is null ${butNotOf(exceptEndpoints)}`.execute(this.#db);
    const ms = rows[0]?.ms ?? null;
    return ms === null ? null : Math.max(0, ms);
  }

  async #claimNext(
    worker: number,
    exceptEndpoints: readonly string[],
  ): Promise<Selectable<WebhookDeliveriesTable> | null> {
    const { rows } = await sql<Selectable<WebhookDeliveriesTable>>`
      update webhook_deliveries set worker = ${worker}
      where number = (select number from webhook_deliveries
        where state = 'waiting' and worker is null and due_at <= ${nowMs()} ${butNotOf(exceptEndpoints)}
        order by due_at limit 1 ${SKIP_LOCKED})
      returning *`.execute(this.#db);
    return rows[0] ?? null;
  }

  /** Null if the endpoint was deleted meanwhile. */
  async #dueDelivery(row: Selectable<WebhookDeliveriesTable>, worker: number): Promise<DueDelivery | null> {
    const endpoint = await this.#db
      .selectFrom("webhook_endpoints")
      .selectAll()
      .where("id", "=", row.endpoint_id)
      .executeTakeFirst();
    if (endpoint === undefined) {
      await this.#db.deleteFrom("webhook_deliveries").where("number", "=", row.number).execute();
      return null;
    }
    return {
      number: row.number,
      worker,
      event: { id: row.event_id, type: row.event_type, createdAt: row.created_at, subjectId: row.subject_id },
      address: addressOf(endpoint),
      round: row.round,
      attempts: storedJson<WebhookAttempt[]>(row.attempts),
    };
  }

  /** What dead workers were sending is due again. */
  async #releaseDead(): Promise<void> {
    const rows = await this.#db
      .selectFrom("webhook_deliveries")
      .select("worker")
      .distinct()
      .where("worker", "is not", null)
      .execute();
    if (rows.length === 0) return;
    const living = await findLivingWorkers(this.#db, this.#calls);
    for (const { worker } of rows) {
      if (worker === null || living.has(worker)) continue;
      await this.#db.updateTable("webhook_deliveries").set({ worker: null }).where("worker", "=", worker).execute();
    }
  }

  #transact(statements: readonly RawBuilder<unknown>[]): Promise<readonly bigint[] | null> {
    return this.#calls.transact(compileAll(this.#db, statements));
  }
}

function isHeld({ number, worker }: DueDelivery): RawBuilder<unknown> {
  return sql`number = ${number} and worker = ${worker}`;
}

function butNotOf(endpointIds: readonly string[]): RawBuilder<unknown> {
  return endpointIds.length === 0 ? sql`` : sql`and endpoint_id not in (${sql.join([...endpointIds])})`;
}

function changeAfter(next: AfterAttempt): RawBuilder<unknown> {
  if (next.type === "again") return sql`round = round + 1, due_at = ${nowMs()} + ${next.pauseMs}`;
  return sql`state = ${next.type === "delivered" ? "delivered" : "failed"}, due_at = null`;
}

/** Counts the time that an endpoint fails, and turns it off if that is too long. `at`: in Unix seconds. */
function endpointChanges(id: string, at: number, next: AfterAttempt): readonly RawBuilder<unknown>[] {
  if (next.type === "delivered")
    return [sql`update webhook_endpoints set failing_since = null where id = ${id} and failing_since is not null`];
  const tooLong = sql`failing_since <= ${at - FAILING_SECONDS_MAX}`;
  const isGone = next.type === "gone";
  return [
    sql`update webhook_endpoints set failing_since = ${at} where id = ${id} and failing_since is null`,
    sql`update webhook_endpoints
      set disabled_at = ${secondsNow()}, disabled_reason = ${isGone ? "gone" : "failing"}
      where id = ${id} and disabled_at is null and ${isGone ? sql`true` : tooLong}`,
    endDeliveries(id),
  ];
}
