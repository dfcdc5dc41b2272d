import type { Kysely } from "kysely";
import type { Response } from "../../generated/responses-api/types.ts";
import { rememberJson } from "../base/json-text.ts";
import type { AbandonedRun, RunLedger } from "../runs/ports.ts";
import type { WriteJob, WriteOutcome } from "./commit-plan.ts";
import type { CommitQueue } from "./commit-queue.ts";
import { recoverTails } from "./recover-tails.ts";
import { LIVE_STATUSES } from "./run-rows.ts";
import type { Database } from "./schema.ts";
import type { WorkerLease } from "./worker-lease.ts";

/** Who makes what, in the database. */
export class StoredRunLedger implements RunLedger {
  readonly #db: Kysely<Database>;
  readonly #queue: CommitQueue<WriteJob, WriteOutcome>;
  readonly #lease: WorkerLease;

  constructor(db: Kysely<Database>, queue: CommitQueue<WriteJob, WriteOutcome>, lease: WorkerLease) {
    this.#db = db;
    this.#queue = queue;
    this.#lease = lease;
  }

  async claimAbandoned(limit: number): Promise<readonly AbandonedRun[]> {
    const own = await this.#lease.number();
    return await this.#db.transaction().execute(async (transaction) => {
      if (!(await this.#lease.renew(own, transaction))) return [];
      const dead = await this.#lease.findDead(transaction, own);
      await recoverTails(transaction, dead);
      const claimed = await claim(transaction, own, await findLivingWorkers(transaction, dead), limit);
      await dismiss(transaction, dead);
      return claimed;
    });
  }

  async release(responseId: string): Promise<void> {
    await this.#queue.add({ type: "release", responseId }, "urgent");
  }

  async renewLease(): Promise<boolean> {
    return await this.#lease.renew(await this.#lease.number());
  }

  async askToStop(responseId: string): Promise<void> {
    await this.#db
      .updateTable("responses")
      .set({ stop_asked: 1 })
      .where("id", "=", responseId)
      .where("status", "in", LIVE_STATUSES)
      .execute();
  }

  async listStopsAsked(): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("responses")
      .select("id")
      .where("worker", "=", await this.#lease.number())
      .where("status", "in", LIVE_STATUSES)
      .where("stop_asked", "=", 1)
      .execute();
    return rows.map(({ id }) => id);
  }
}

async function findLivingWorkers(db: Kysely<Database>, dead: readonly number[]): Promise<readonly number[]> {
  const rows = await db.selectFrom("workers").select("id").where("id", "not in", dead).execute();
  return rows.map(({ id }) => id);
}

/** Makes runs of nobody this worker's. */
async function claim(
  transaction: Kysely<Database>,
  own: number,
  living: readonly number[],
  limit: number,
): Promise<readonly AbandonedRun[]> {
  const rows = await transaction
    .selectFrom("responses")
    .select(["id", "organization", "project", "body", "task"])
    .where("status", "in", LIVE_STATUSES)
    .where((expression) => expression.or([expression("worker", "is", null), expression("worker", "not in", living)]))
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  for (const { id } of rows) {
    await transaction.updateTable("responses").set({ worker: own }).where("id", "=", id).execute();
  }
  return rows.map(({ organization, project, body, task }) => {
    const response: Response = JSON.parse(body);
    return { owner: { organization, project }, response: rememberJson(response, body), task };
  });
}

/** Strikes dead workers off the list: nothing of theirs is left in a journal, and runs of workers that are not listed are anyone's. */
async function dismiss(transaction: Kysely<Database>, dead: readonly number[]): Promise<void> {
  await transaction.deleteFrom("workers").where("id", "in", dead).execute();
}
