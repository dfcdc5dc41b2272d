import type { EffectSettlement } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedItem } from "@antiphon/domain/models/hosted.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import {
  ApprovalSpent,
  type BegunExchange,
  type CallAttempt,
  type FinishedExchange,
  type KnownExchange,
  type ToolLedger,
  type TurnDecision,
  type TurnInLedger,
} from "@antiphon/domain/tool-ledger.ts";
import type { Kysely } from "kysely";
import { RunLost } from "../../runs/ports/store-faults.ts";
import type { Database, ToolExchangesTable } from "../database/schema.ts";
import { storedJson } from "../database/stored-json.ts";
import type { LedgerChange } from "../rows/ledger-rows.ts";
import type { WriteJob, WriteOutcome } from "../rows/runs/write-job.ts";
import type { PatientWrites } from "./runs/patient-writes.ts";
import type { RunCommits } from "./runs/run-commits.ts";

/** Below SQLite's limit; a request needs at most as many as its context has items. */
const IDS_AT_ONCE_MAX = 500;

/** The calls of hosted tools in the database. Their writes share commits with all others. */
export class StoredToolLedger implements ToolLedger {
  readonly #db: Kysely<Database>;
  readonly #commits: RunCommits;
  readonly #patient: PatientWrites;

  constructor(db: Kysely<Database>, commits: RunCommits, patient: PatientWrites) {
    this.#patient = patient;
    this.#db = db;
    this.#commits = commits;
  }

  async begin(owner: Owner, responseId: string, exchange: BegunExchange): Promise<void> {
    const createdAt = Math.floor(Date.now() / 1000);
    const outcome = await this.#write({ owner, responseId, step: { type: "begin", exchange, createdAt } });
    if (outcome === "spent") throw new ApprovalSpent(exchange.approvalRequestId ?? "");
    if (outcome !== "written") throw new RunLost("the call has begun already, or another server makes the response");
  }

  async finish(
    owner: Owner,
    responseId: string,
    result: FinishedExchange,
    attempts: readonly CallAttempt[],
  ): Promise<void> {
    const { itemId, item, output, parts, usage, outcome, following = [] } = result;
    const texts = {
      item: JSON.stringify(following.length === 0 ? item : [item, ...following]),
      parts: JSON.stringify(parts),
      usage: usage === null ? null : JSON.stringify(usage),
      attempts: JSON.stringify(attempts),
    };
    const step = { type: "finish", itemId, output, outcome, ...texts } as const;
    if ((await this.#write({ owner, responseId, step })) !== "written")
      throw new RunLost("no such call has begun, or another server makes the response");
  }

  async endTurn(owner: Owner, responseId: string, { number, usage, decision }: TurnInLedger): Promise<void> {
    const decisionText = decision === null ? null : JSON.stringify(decision);
    const step = { type: "end_turn", number, usage: JSON.stringify(usage), decision: decisionText } as const;
    const outcome = await this.#write({ owner, responseId, step });
    if (outcome !== "written") throw new RunLost("another server makes the response");
  }

  async spend(owner: Owner, responseId: string, approvalRequestId: string): Promise<void> {
    const createdAt = Math.floor(Date.now() / 1000);
    const outcome = await this.#write({ owner, responseId, step: { type: "spend", approvalRequestId, createdAt } });
    if (outcome === "spent") throw new ApprovalSpent(approvalRequestId);
  }

  #write(change: LedgerChange): Promise<WriteOutcome> {
    const job: WriteJob = { type: "tool", ...change };
    return this.#patient.write(change.responseId, () => this.#commits.add(job, "urgent"));
  }

  async turnsOf(owner: Owner, responseId: string): Promise<readonly TurnInLedger[]> {
    const rows = await this.#db
      .selectFrom("tool_turns")
      .select(["number", "usage", "decision"])
      .where("response_id", "=", responseId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .orderBy("number")
      .execute();
    return rows.map(({ number, usage, decision }) => ({
      number,
      usage: storedJson<TurnInLedger["usage"]>(usage),
      decision: decision === null ? null : storedJson<TurnDecision>(decision),
    }));
  }

  async find(owner: Owner, itemIds: readonly string[]): Promise<ReadonlyMap<string, KnownExchange>> {
    const exchanges = new Map<string, KnownExchange>();
    for (let start = 0; start < itemIds.length; start += IDS_AT_ONCE_MAX) {
      const rows = await this.#db
        .selectFrom("tool_exchanges")
        .selectAll()
        .where("item_id", "in", itemIds.slice(start, start + IDS_AT_ONCE_MAX))
        .where("organization", "=", owner.organization)
        .where("project", "=", owner.project)
        .execute();
      for (const row of rows) exchanges.set(row.item_id, exchangeOf(row));
    }
    return exchanges;
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
}

function exchangeOf(row: ToolExchangesTable): KnownExchange {
  const { item_id: itemId, call_id: callId, name, server, effect, output, item, parts, usage, turn, outcome } = row;
  const result =
    output === null || item === null || parts === null
      ? null
      : {
          itemId,
          ...exchangeItems(item),
          output,
          parts: storedJson<FinishedExchange["parts"]>(parts),
          usage: usage === null ? null : storedJson<FinishedExchange["usage"]>(usage),
          outcome: outcome ?? "finished",
        };
  const approvalRequestId = row.approval_request_id;
  const attempts = row.attempts === null ? [] : storedJson<readonly CallAttempt[]>(row.attempts);
  const settlement = row.settlement === null ? null : storedJson<EffectSettlement>(row.settlement);
  const settledAs = settlement === null ? {} : { settledAs: settlement.state };
  const call = { itemId, callId, name, server, arguments: row.arguments, effect, approvalRequestId, turn, attempts };
  return { ...call, result, ...settledAs };
}

/** The item of the call, or a list with the items that follow it. */
function exchangeItems(json: string): Pick<FinishedExchange, "item" | "following"> {
  if (!json.startsWith("[")) return { item: storedJson<HostedItem>(json) };
  const [item, ...following] = storedJson<readonly [HostedItem, ...HostedItem[]]>(json);
  return { item, following };
}
