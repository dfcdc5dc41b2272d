import type { EffectSettlement, ResponseEffect } from "@antiphon/contracts/responses-api/types.ts";
import { mayChangeWorld } from "@antiphon/domain/hosted-tool.ts";
import type { EffectPlace, EffectStore } from "@antiphon/domain/inspection.ts";
import type { HostedItem } from "@antiphon/domain/models/hosted.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { CallAttempt } from "@antiphon/domain/tool-ledger.ts";
import { type Kysely, sql } from "kysely";
import type { Database, ToolExchangesTable } from "../../database/schema.ts";
import { storedJson } from "../../database/stored-json.ts";
import { isId } from "../../database/time-first.ts";

/** The maximum calls read for one response. A response can have fewer. */
const EFFECTS_MAX = 10_000;

/** The ledger of calls as operators see it: without what the model was told. */
export class StoredEffects implements EffectStore {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async list(owner: Owner, responseId: string): Promise<readonly ResponseEffect[]> {
    const [rows, isLive] = await Promise.all([this.#read(owner, responseId), this.#isLive(responseId)]);
    return rows.map((row) => effectOf(row, isLive));
  }

  async settle(owner: Owner, { responseId, itemId }: EffectPlace, settlement: EffectSettlement): Promise<boolean> {
    const hasEnded = sql<boolean>`exists (select 1 from responses
      where ${isId("responses.id", responseId)} and status not in ('queued', 'in_progress'))`;
    const { numUpdatedRows } = await this.#db
      .updateTable("tool_exchanges")
      .set({ settlement: JSON.stringify(settlement) })
      .where("item_id", "=", itemId)
      .where("response_id", "=", responseId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where("settlement", "is", null)
      .where("effect", "in", ["may_have", "idempotent"])
      .where(sql<boolean>`(outcome = 'unknown' or (output is null and ${hasEnded}))`)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  async #read({ organization, project }: Owner, responseId: string) {
    return await this.#db
      .selectFrom("tool_exchanges")
      .select(["item_id", "response_id", "created_at", "name", "server", "effect", "approval_request_id"])
      .select(["outcome", "attempts", "settlement"])
      .select(sql<number>`case when output is null then 0 else 1 end`.as("has_ended"))
      .select(sql<string | null>`case when attempts is null then item end`.as("item"))
      .where("response_id", "=", responseId)
      .where("organization", "=", organization)
      .where("project", "=", project)
      .where("name", "<>", "") // An approval that was spent by a response that is not stored.
      .orderBy("turn")
      .orderBy("item_id")
      .limit(EFFECTS_MAX)
      .execute();
  }

  async #isLive(responseId: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom("responses")
      .select("status")
      .where(isId("responses.id", responseId))
      .executeTakeFirst();
    return row !== undefined && (row.status === "queued" || row.status === "in_progress");
  }
}

interface EffectRow
  extends Pick<ToolExchangesTable, "item_id" | "response_id" | "created_at" | "name" | "server" | "effect">,
    Pick<ToolExchangesTable, "approval_request_id" | "outcome" | "attempts" | "settlement"> {
  readonly has_ended: number;
  /** As in the table, of a call without attempts; null for others. */
  readonly item: string | null;
}

/** `isLive`: whether its response has not ended. */
function effectOf(row: EffectRow, isLive: boolean): ResponseEffect {
  const { item_id: id, response_id, created_at, name, server: server_label, effect, approval_request_id } = row;
  const attempts = row.attempts === null ? [] : storedJson<readonly CallAttempt[]>(row.attempts);
  const settlement = row.settlement === null ? null : storedJson<EffectSettlement>(row.settlement);
  return {
    id,
    object: "response.effect",
    response_id,
    created_at,
    name,
    server_label,
    effect,
    state: settlement?.state ?? stateOf(row, attempts, isLive),
    key: mayChangeWorld(effect) ? `${response_id}.${id}` : null,
    approval_request_id,
    attempts: attempts.map(({ startedAt, endedAt, node, outcome }) => ({
      started_at_ms: startedAt,
      ended_at_ms: endedAt,
      node,
      state: outcome ?? unendedState(row, isLive),
    })),
    settlement,
  };
}

/** A call of an earlier release has no attempts: what is known of it is the status of its item. */
function stateOf(row: EffectRow, attempts: readonly CallAttempt[], isLive: boolean): ResponseEffect["state"] {
  if (row.has_ended === 0) return unendedState(row, isLive);
  if (row.outcome === "unknown") return "unknown";
  return attempts.at(-1)?.outcome ?? stateOfItem(row.item);
}

/** `item`: as in the table. */
function stateOfItem(item: string | null): ResponseEffect["state"] {
  const [call] = item === null ? [] : [storedJson<HostedItem | readonly HostedItem[]>(item)].flat();
  const status = call !== undefined && "status" in call ? call.status : "completed";
  return status === "failed" || status === "incomplete" ? "failed" : "done";
}

/** A call that was stopped with its response may have acted, if it is one that acts. */
function unendedState({ effect }: EffectRow, isLive: boolean): ResponseEffect["state"] {
  if (isLive) return "running";
  return mayChangeWorld(effect) ? "unknown" : "failed";
}
