import { type Kysely, sql } from "kysely";
import {
  ApprovalSpent,
  type BegunExchange,
  type FinishedExchange,
  type KnownExchange,
  type ToolLedger,
  type TurnInLedger,
} from "../responses-api/ports.ts";
import { type HostedItem, type Owner, RunLost } from "../runs/ports.ts";
import type { Database, ToolExchangesTable } from "./database/schema.ts";
import { isId } from "./database/time-first.ts";
import { storedJson } from "./stored-json.ts";
import type { DatabaseCalls } from "./thread/database-calls.ts";

/** SQLite's limit is higher; a request asks for at most as many as its context has items. */
const IDS_AT_ONCE_MAX = 500;

/** The calls of hosted tools in the database. Each write is one statement; a worker that lost its run cannot write. */
export class StoredToolLedger implements ToolLedger {
  readonly #db: Kysely<Database>;
  readonly #calls: Pick<DatabaseCalls, "workerNumber">;

  constructor(db: Kysely<Database>, calls: Pick<DatabaseCalls, "workerNumber">) {
    this.#db = db;
    this.#calls = calls;
  }

  async begin(owner: Owner, responseId: string, exchange: BegunExchange): Promise<void> {
    const { itemId, callId, name, server, effect, approvalRequestId, turn } = exchange;
    const values = [itemId, responseId, owner.organization, owner.project, callId, name, server, exchange.arguments];
    const isFree = await this.#isNotElsewhere(responseId);
    const begun = sql`
      insert into tool_exchanges (item_id, response_id, organization, project, call_id, name, server, arguments,
        effect, approval_request_id, created_at, turn)
      select ${sql.join(values)}, ${effect}, ${approvalRequestId}, ${Math.floor(Date.now() / 1000)}, ${turn}
        where ${isFree}
      on conflict (item_id) do update set arguments = excluded.arguments, call_id = excluded.call_id
        where tool_exchanges.effect = 'none' and tool_exchanges.output is null`;
    const { numAffectedRows } = await begun.execute(this.#db).catch((fault: unknown) => {
      throw approvalRequestId !== null && isConstraint(fault) ? new ApprovalSpent(approvalRequestId) : fault;
    });
    if (numAffectedRows !== 1n) throw new RunLost("the call has begun already, or another server makes the response");
  }

  async finish(owner: Owner, responseId: string, result: FinishedExchange): Promise<void> {
    const { itemId, item, output, parts, usage, following = [] } = result;
    const { numUpdatedRows } = await this.#db
      .updateTable("tool_exchanges")
      .set({
        output,
        parts: JSON.stringify(parts),
        item: JSON.stringify(following.length === 0 ? item : [item, ...following]),
        usage: usage === null ? null : JSON.stringify(usage),
      })
      .where("item_id", "=", itemId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where(await this.#isNotElsewhere(responseId))
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) throw new RunLost("the call is unknown, or another server makes the response");
  }

  async endTurn(owner: Owner, responseId: string, { number, usage }: TurnInLedger): Promise<void> {
    const values = [responseId, owner.organization, owner.project, number, JSON.stringify(usage)];
    const ended = sql`
      insert or replace into tool_turns (response_id, organization, project, number, usage)
      select ${sql.join(values)} where ${await this.#isNotElsewhere(responseId)}`;
    const { numAffectedRows } = await ended.execute(this.#db);
    if (numAffectedRows !== 1n) throw new RunLost("another server makes the response");
  }

  async turnsOf(owner: Owner, responseId: string): Promise<readonly TurnInLedger[]> {
    const rows = await this.#db
      .selectFrom("tool_turns")
      .select(["number", "usage"])
      .where("response_id", "=", responseId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .orderBy("number")
      .execute();
    return rows.map(({ number, usage }) => ({ number, usage: storedJson<TurnInLedger["usage"]>(usage) }));
  }

  async find(owner: Owner, itemIds: readonly string[]): Promise<ReadonlyMap<string, KnownExchange>> {
    const known = new Map<string, KnownExchange>();
    for (let start = 0; start < itemIds.length; start += IDS_AT_ONCE_MAX) {
      const rows = await this.#db
        .selectFrom("tool_exchanges")
        .selectAll()
        .where("item_id", "in", itemIds.slice(start, start + IDS_AT_ONCE_MAX))
        .where("organization", "=", owner.organization)
        .where("project", "=", owner.project)
        .execute();
      for (const row of rows) known.set(row.item_id, exchangeOf(row));
    }
    return known;
  }

  async listOf(owner: Owner, responseId: string): Promise<readonly KnownExchange[]> {
    const rows = await this.#db
      .selectFrom("tool_exchanges")
      .selectAll()
      .where("response_id", "=", responseId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .execute();
    return rows.map(exchangeOf);
  }

  async findSpent(owner: Owner, approvalRequestIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (approvalRequestIds.length === 0) return new Set();
    const rows = await this.#db
      .selectFrom("tool_exchanges")
      .select("approval_request_id as id")
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where("approval_request_id", "in", approvalRequestIds)
      .execute();
    return new Set(rows.flatMap(({ id }) => id ?? []));
  }

  /**
   * No other worker holds the response. One that is not stored yet is made here: a plain response is stored when it
   * ends.
   */
  async #isNotElsewhere(responseId: string) {
    const worker = await this.#calls.workerNumber();
    return sql<boolean>`not exists (select 1 from responses
      where ${isId("responses.id", responseId)} and (worker is null or worker <> ${worker}))`;
  }
}

function exchangeOf(row: ToolExchangesTable): KnownExchange {
  const { item_id: itemId, call_id: callId, name, server, effect, output, item, parts, usage, turn } = row;
  const result =
    output === null || item === null || parts === null
      ? null
      : {
          itemId,
          ...itemsOf(item),
          output,
          parts: storedJson<FinishedExchange["parts"]>(parts),
          usage: usage === null ? null : storedJson<FinishedExchange["usage"]>(usage),
        };
  const approvalRequestId = row.approval_request_id;
  return { itemId, callId, name, server, arguments: row.arguments, effect, approvalRequestId, turn, result };
}

/** The item of the call, or a list of it and the items that follow it. */
function itemsOf(json: string): Pick<FinishedExchange, "item" | "following"> {
  if (!json.startsWith("[")) return { item: storedJson<HostedItem>(json) };
  const [item, ...following] = storedJson<readonly [HostedItem, ...HostedItem[]]>(json);
  return { item, following };
}

/** Whether SQLite refused a second row of the same approval. */
function isConstraint(fault: unknown): boolean {
  return fault instanceof Error && /UNIQUE constraint failed: .*approval_request_id/.test(fault.message);
}
