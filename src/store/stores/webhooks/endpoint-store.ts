import { newId } from "@antiphon/base/ids.ts";
import type {
  UpdateWebhookEndpointRequest,
  WebhookDelivery,
  WebhookEndpoint,
} from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { PageRequest } from "@antiphon/domain/responses.ts";
import type { ListPage } from "@antiphon/domain/vector-stores.ts";
import {
  type NewWebhookEndpoint,
  OLD_SECRET_SECONDS,
  type Redelivery,
  type SealedSecret,
  WEBHOOK_ENDPOINTS_MAX,
  type WebhookAddress,
  type WebhookEndpoints,
} from "@antiphon/domain/webhooks.ts";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import { nowMs } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import type { WebhookEndpointsTable } from "../../database/webhook-tables.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { shownDelivery, shownEndpoint } from "../../rows/webhook-rows.ts";
import { compileAll } from "../vector-stores/compile-all.ts";
import { secondsNow } from "../vector-stores/store-statements.ts";

/** Endpoints of webhooks in the database, with what was sent to them. */
export class StoredWebhookEndpoints implements WebhookEndpoints {
  readonly #db: Kysely<Database>;
  readonly #calls: Pick<DatabaseCalls, "transact">;
  readonly #onDue: () => void;

  /** `onDue`: called when an event was made due. */
  constructor(db: Kysely<Database>, calls: Pick<DatabaseCalls, "transact">, onDue: () => void) {
    this.#db = db;
    this.#calls = calls;
    this.#onDue = onDue;
  }

  async create(owner: Owner, { name, url, eventTypes, secret }: NewWebhookEndpoint): Promise<WebhookEndpoint | null> {
    const now = secondsNow();
    const id = newId("whe", now);
    const { organization, project } = owner;
    const types = JSON.stringify([...new Set(eventTypes)]);
    const values = [id, organization, project, now, now, name, url, types, secret.sealedText, secret.hint];
    await sql`insert into webhook_endpoints
        (id, organization, project, created_at, updated_at, name, url, event_types, secret, secret_hint)
      select ${sql.join(values)}
      where (select count(*) from webhook_endpoints where ${isOwnedBy(owner)}) < ${WEBHOOK_ENDPOINTS_MAX}`.execute(
      this.#db,
    );
    return await this.find(owner, id);
  }

  async find(owner: Owner, id: string): Promise<WebhookEndpoint | null> {
    const row = await this.#findRow(owner, id);
    return row === null ? null : shownEndpoint(row);
  }

  async list(owner: Owner, { limit, order, after }: PageRequest): Promise<ListPage<WebhookEndpoint> | null> {
    const cursor = after === null ? null : await this.#findRow(owner, after);
    if (after !== null && cursor === null) return null;
    const rows = await this.#db
      .selectFrom("webhook_endpoints")
      .selectAll()
      .where(isOwnedBy(owner))
      .$if(cursor !== null, (query) => query.where("number", order === "asc" ? ">" : "<", cursor?.number ?? 0))
      .orderBy("number", order)
      .limit(limit + 1)
      .execute();
    return { entries: rows.slice(0, limit).map(shownEndpoint), hasMore: rows.length > limit };
  }

  async update(
    owner: Owner,
    id: string,
    { name, url, event_types: eventTypes, status }: UpdateWebhookEndpointRequest,
  ): Promise<WebhookEndpoint | null> {
    const types = eventTypes === undefined ? null : JSON.stringify([...new Set(eventTypes)]);
    const changes = [
      ...(name === undefined ? [] : [sql`name = ${name}`]),
      ...(url === undefined ? [] : [sql`url = ${url}`]),
      ...(types === null ? [] : [sql`event_types = ${types}`]),
      ...statusChanges(status),
    ];
    if (changes.length === 0) return await this.find(owner, id);
    await this.#transact([
      sql`update webhook_endpoints set updated_at = ${secondsNow()}, ${sql.join(changes)}
        where id = ${id} and ${isOwnedBy(owner)}`,
      ...(status === "disabled" ? [endDeliveries(id)] : []),
    ]);
    return await this.find(owner, id);
  }

  async delete(owner: Owner, id: string): Promise<boolean> {
    const changes = await this.#transact([
      sql`delete from webhook_endpoints where id = ${id} and ${isOwnedBy(owner)}`,
      sql`delete from webhook_deliveries where endpoint_id = ${id}`,
    ]);
    return changes !== null;
  }

  async replaceSecret(
    owner: Owner,
    id: string,
    { sealedText, hint }: SealedSecret,
    isOldKept: boolean,
  ): Promise<WebhookEndpoint | null> {
    const now = secondsNow();
    const old = isOldKept
      ? sql`old_secret = secret, old_secret_until = ${now + OLD_SECRET_SECONDS}`
      : sql`old_secret = null, old_secret_until = null`;
    await sql`update webhook_endpoints
      set ${old}, secret = ${sealedText}, secret_hint = ${hint}, updated_at = ${now}
      where id = ${id} and ${isOwnedBy(owner)}`.execute(this.#db);
    return await this.find(owner, id);
  }

  async findAddress(owner: Owner, id: string): Promise<WebhookAddress | null> {
    const row = await this.#findRow(owner, id);
    return row === null ? null : addressOf(row);
  }

  async listDeliveries(
    owner: Owner,
    id: string,
    { limit, order, after }: PageRequest,
  ): Promise<ListPage<WebhookDelivery> | null> {
    const deliveries = this.#db
      .selectFrom("webhook_deliveries")
      .selectAll()
      .where("endpoint_id", "=", id)
      .where((delivery) =>
        delivery.exists(
          this.#db.selectFrom("webhook_endpoints").select("id").where("id", "=", id).where(isOwnedBy(owner)),
        ),
      );
    const cursor = after === null ? null : await deliveries.where("event_id", "=", after).executeTakeFirst();
    if (cursor === undefined) return null;
    const rows = await deliveries
      .$if(cursor !== null, (query) => query.where("number", order === "asc" ? ">" : "<", cursor?.number ?? 0))
      .orderBy("number", order)
      .limit(limit + 1)
      .execute();
    return { entries: rows.slice(0, limit).map(shownDelivery), hasMore: rows.length > limit };
  }

  async redeliver(owner: Owner, id: string, eventId: string): Promise<Redelivery> {
    const endpoint = await this.#findRow(owner, id);
    if (endpoint === null) return { type: "unknown" };
    if (endpoint.disabled_at === null) {
      await sql`update webhook_deliveries set state = 'waiting', round = 0, due_at = ${nowMs()}
        where endpoint_id = ${id} and event_id = ${eventId} and worker is null
          and exists (select 1 from webhook_endpoints where id = ${id} and disabled_at is null)`.execute(this.#db);
      this.#onDue();
    }
    const row = await this.#db
      .selectFrom("webhook_deliveries")
      .selectAll()
      .where("endpoint_id", "=", id)
      .where("event_id", "=", eventId)
      .executeTakeFirst();
    if (row === undefined) return { type: "unknown" };
    return endpoint.disabled_at === null ? { type: "waiting", delivery: shownDelivery(row) } : { type: "disabled" };
  }

  async #findRow(owner: Owner, id: string): Promise<Selectable<WebhookEndpointsTable> | null> {
    const row = await this.#db
      .selectFrom("webhook_endpoints")
      .selectAll()
      .where("id", "=", id)
      .where(isOwnedBy(owner))
      .executeTakeFirst();
    return row ?? null;
  }

  async #transact(statements: readonly RawBuilder<unknown>[]): Promise<readonly bigint[] | null> {
    return await this.#calls.transact(compileAll(this.#db, statements));
  }
}

/** Ends the deliveries of an endpoint that is turned off, but for those that are being sent. */
export function endDeliveries(endpointId: string): RawBuilder<unknown> {
  return sql`update webhook_deliveries set state = 'failed', due_at = null
    where endpoint_id = ${endpointId} and state = 'waiting' and worker is null
      and exists (select 1 from webhook_endpoints where id = ${endpointId} and disabled_at is not null)`;
}

export function addressOf(row: Selectable<WebhookEndpointsTable>): WebhookAddress {
  const { id, url, organization, project, secret, old_secret: old, old_secret_until: until } = row;
  const isOldUsed = old !== null && (until ?? 0) > secondsNow();
  return {
    owner: { organization, project },
    endpointId: id,
    url,
    sealedSecrets: isOldUsed ? [secret, old] : [secret],
  };
}

function isOwnedBy({ organization, project }: Owner): RawBuilder<boolean> {
  return sql<boolean>`(organization = ${organization} and project = ${project})`;
}

function statusChanges(status: UpdateWebhookEndpointRequest["status"]): readonly RawBuilder<unknown>[] {
  if (status === undefined) return [];
  return status === "enabled"
    ? [sql`disabled_at = null`, sql`disabled_reason = null`, sql`failing_since = null`]
    : [
        sql`disabled_at = coalesce(disabled_at, ${secondsNow()})`,
        sql`disabled_reason = coalesce(disabled_reason, 'client')`,
      ];
}
