import { assertNever } from "@antiphon/base/assert.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { BegunExchange, FinishedExchange } from "@antiphon/domain/tool-ledger.ts";
import { type CompiledQuery, type Kysely, type QueryResult, sql } from "kysely";
import { builtOnce, type StandIns } from "../database/built-once.ts";
import { dialectal } from "../database/dialectal.ts";
import type { Database } from "../database/schema.ts";
import { isId } from "../database/time-first.ts";

/** One write to the ledger of tool calls of a response. */
export interface LedgerChange {
  readonly responseId: string;
  readonly owner: Owner;
  readonly step: LedgerStep;
}

export type LedgerStep =
  /** `createdAt`: in Unix seconds. */
  | { readonly type: "begin"; readonly exchange: BegunExchange; readonly createdAt: number }
  /** `createdAt`: in Unix seconds. */
  | { readonly type: "spend"; readonly approvalRequestId: string; readonly createdAt: number }
  /** `item`, `parts`, `usage` and `attempts` are JSON. */
  | {
      readonly type: "finish";
      readonly itemId: string;
      readonly item: string;
      readonly output: string;
      readonly parts: string;
      readonly usage: string | null;
      readonly outcome: FinishedExchange["outcome"];
      readonly attempts: string;
    }
  /** `usage` and `decision` are JSON. */
  | {
      readonly type: "end_turn";
      readonly number: number;
      readonly usage: string;
      readonly decision: string | null;
    };

/** A change and its job. */
export interface PlannedLedgerChange extends LedgerChange {
  readonly job: number;
}

/**
 * `spent`: another call has used the approval. `unchanged`: the call has already started or never did, or another
 * worker makes the response.
 */
export type LedgerOutcome = "written" | "unchanged" | "spent";

/** Applies the changes in order. Each is one statement, which changes nothing if this worker lacks the right. */
export async function writeLedgerRows(
  db: Kysely<Database>,
  worker: number,
  changes: readonly PlannedLedgerChange[],
): Promise<ReadonlyMap<number, LedgerOutcome>> {
  const outcomes = new Map<number, LedgerOutcome>();
  for (const change of changes) outcomes.set(change.job, await makeChange(db, worker, change));
  return outcomes;
}

/** The number of characters that a step writes. */
export function sizeOfLedgerStep(step: LedgerStep): number {
  switch (step.type) {
    case "begin":
      return step.exchange.arguments.length;
    case "spend":
      return step.approvalRequestId.length;
    case "finish":
      return step.item.length + step.output.length + step.parts.length;
    case "end_turn":
      return step.usage.length + (step.decision?.length ?? 0);
    default:
      return assertNever(step);
  }
}

async function makeChange(
  db: Kysely<Database>,
  worker: number,
  { owner, responseId, step }: LedgerChange,
): Promise<LedgerOutcome> {
  const place = { organization: owner.organization, project: owner.project, responseId, worker };
  switch (step.type) {
    case "begin": {
      const { exchange, createdAt } = step;
      const attempts = JSON.stringify(exchange.attempts);
      if (isWritten(await begin(db, { ...place, ...exchange, attempts, createdAt }))) return "written";
      const { itemId, approvalRequestId } = exchange;
      if (approvalRequestId === null) return "unchanged";
      return (await findSpender(db, { ...place, itemId, approvalRequestId })).rows.length > 0 ? "spent" : "unchanged";
    }
    case "spend": {
      const { approvalRequestId, createdAt } = step;
      if (isWritten(await spend(db, { ...place, approvalRequestId, createdAt }))) return "written";
      return (await findSpender(db, { ...place, itemId: "", approvalRequestId })).rows.length > 0
        ? "spent"
        : "unchanged";
    }
    case "finish": {
      const { type: _, ...fields } = step;
      return isWritten(await finish(db, { ...place, ...fields })) ? "written" : "unchanged";
    }
    case "end_turn": {
      const { number, usage, decision } = step;
      return isWritten(await endTurn(db, { ...place, number, usage, decision })) ? "written" : "unchanged";
    }
    default:
      return assertNever(step);
  }
}

function isWritten({ numAffectedRows }: QueryResult<unknown>): boolean {
  return numAffectedRows === 1n;
}

type Place = {
  readonly organization: string;
  readonly project: string;
  readonly responseId: string;
  readonly worker: number;
};

/**
 * True if no other worker holds the response. A response that is not stored yet is made here: a plain response is
 * stored when it ends.
 */
function isNotElsewhere(params: StandIns<Place>) {
  return sql`not exists (select 1 from responses
    where ${isId("responses.id", params.id("responseId"))} and (worker is null or worker <> ${params.value("worker")}))`;
}

type Begun = Place &
  Omit<BegunExchange, "effect" | "attempts"> & {
    readonly effect: string;
    /** JSON. */
    readonly attempts: string;
    readonly createdAt: number;
  };

const begin = builtOnce((db: Kysely<Database>, params: StandIns<Begun>): CompiledQuery => {
  const values = [
    params.value("itemId"),
    params.value("responseId"),
    params.value("organization"),
    params.value("project"),
    params.value("callId"),
    params.value("name"),
    params.value("server"),
    params.value("arguments"),
    params.value("effect"),
    params.value("approvalRequestId"),
    params.value("createdAt"),
    params.value("turn"),
    params.value("attempts"),
  ];
  const addition = sql`
    insert into tool_exchanges (item_id, response_id, organization, project, call_id, name, server, arguments,
      effect, approval_request_id, created_at, turn, attempts)
    select ${sql.join(values)} where ${isNotElsewhere(params)}`;
  const mayBegin = sql`tool_exchanges.effect in ('none', 'idempotent') and tool_exchanges.output is null`;
  return dialectal(
    sql`${addition}
      on conflict (item_id) do update set arguments = excluded.arguments, call_id = excluded.call_id,
        attempts = excluded.attempts where ${mayBegin}
      on conflict do nothing`,
    // Here an insert can handle only one kind of conflict.
    () => sql`
      with added as (${addition} on conflict do nothing returning item_id),
      again as (update tool_exchanges
        set arguments = ${params.value("arguments")}, call_id = ${params.value("callId")},
          attempts = ${params.value("attempts")}
        where item_id = ${params.value("itemId")} and ${mayBegin} and ${isNotElsewhere(params)}
          and not exists (select 1 from added) returning item_id)
      select item_id from added union all select item_id from again`,
  ).compile(db);
});

type Spent = Place & { readonly approvalRequestId: string; readonly createdAt: number };

/**
 * Represents the call of an unstored response. It is deleted with the approval request, whose id it has, and contains
 * nothing of the call.
 */
const spend = builtOnce(
  (db: Kysely<Database>, params: StandIns<Spent>): CompiledQuery =>
    sql`
    insert into tool_exchanges (item_id, response_id, organization, project, call_id, name, arguments, effect,
      approval_request_id, created_at, turn)
    select ${params.value("approvalRequestId")}, ${params.value("responseId")}, ${params.value("organization")},
      ${params.value("project")}, ${params.value("approvalRequestId")}, '', '', 'may_have',
      ${params.value("approvalRequestId")}, ${params.value("createdAt")}, 0
    where exists (select 1 from items where ${isId("items.id", params.id("approvalRequestId"))}
      and direction = 'output' and organization = ${params.value("organization")}
      and project = ${params.value("project")})
    on conflict do nothing`.compile(db),
);

type Spending = Place & { readonly itemId: string; readonly approvalRequestId: string };

/** Another call that used this approval. */
const findSpender = builtOnce((db: Kysely<Database>, params: StandIns<Spending>) =>
  db
    .selectFrom("tool_exchanges")
    .select("item_id")
    .where("organization", "=", params.value("organization"))
    .where("project", "=", params.value("project"))
    .where("approval_request_id", "=", params.value("approvalRequestId"))
    .where("item_id", "<>", params.value("itemId"))
    .compile(),
);

type Finished = Place & Omit<Extract<LedgerStep, { type: "finish" }>, "type">;

const finish = builtOnce(
  (db: Kysely<Database>, params: StandIns<Finished>): CompiledQuery =>
    sql`
    update tool_exchanges set output = ${params.value("output")}, parts = ${params.value("parts")},
      item = ${params.value("item")}, usage = ${params.value("usage")}, outcome = ${params.value("outcome")},
      attempts = ${params.value("attempts")}
    where item_id = ${params.value("itemId")} and organization = ${params.value("organization")}
      and project = ${params.value("project")} and ${isNotElsewhere(params)}`.compile(db),
);

type EndedTurn = Place & { readonly number: number; readonly usage: string; readonly decision: string | null };

const endTurn = builtOnce(
  (db: Kysely<Database>, params: StandIns<EndedTurn>): CompiledQuery =>
    sql`
    insert into tool_turns (response_id, organization, project, number, usage, decision)
    select ${params.value("responseId")}, ${params.value("organization")}, ${params.value("project")},
      ${params.value("number")}, ${params.value("usage")}, ${params.value("decision")} where ${isNotElsewhere(params)}
    on conflict (response_id, number) do update set organization = excluded.organization, project = excluded.project,
      usage = excluded.usage, decision = excluded.decision`.compile(db),
);
