import type { Kysely } from "kysely";
import type { Response } from "../../../generated/responses-api/types.ts";
import { rememberJson } from "../../base/json/json-text.ts";
import type { AbandonedRun, RunLedger } from "../../runs/ports.ts";
import type { Database } from "../database/schema.ts";
import { storedJson } from "../stored-json.ts";
import type { WriteJob, WriteOutcome } from "./commit-plan.ts";
import type { CommitQueue } from "./commit-queue.ts";
import { removeDeadWorkers } from "./remove-dead-workers.ts";
import { IS_LIVE } from "./run-rows.ts";
import type { WorkerLease } from "./worker-lease.ts";

/** The ledger of workers and runs in the database. */
export class StoredRunLedger implements RunLedger {
  readonly #db: Kysely<Database>;
  readonly #queue: CommitQueue<WriteJob, WriteOutcome>;
  readonly #lease: WorkerLease;

  constructor(db: Kysely<Database>, queue: CommitQueue<WriteJob, WriteOutcome>, lease: WorkerLease) {
    this.#db = db;
    this.#queue = queue;
    this.#lease = lease;
  }

  async claimAbandoned(limit: number, isHere: (responseId: string) => boolean = () => true) {
    const own = await this.#lease.number();
    return await this.#db.transaction().execute(async (transaction) => {
      if (!(await this.#lease.renew(own, transaction))) return [];
      await removeDeadWorkers(transaction, await this.#lease.findDead(transaction, own));
      const unmade = (await findUnmade(transaction, own)).filter(({ id, worker }) => worker !== own || !isHere(id));
      const ids = unmade.slice(0, limit).map(({ id }) => id);
      return await claim(transaction, own, ids);
    });
  }

  async release(responseId: string): Promise<void> {
    await this.#queue.add({ type: "release", responseId }, "urgent");
  }

  async renewLease(): Promise<boolean> {
    return await this.#lease.renew(await this.#lease.number());
  }

  async listHeld(): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("responses")
      .select("id")
      .where("worker", "=", await this.#lease.number())
      .where(IS_LIVE)
      .execute();
    return rows.map(({ id }) => id);
  }

  async countRestart(responseId: string): Promise<void> {
    await this.#db
      .updateTable("responses")
      .set({ restarts: (expression) => expression("restarts", "+", 1) })
      .where("id", "=", responseId)
      .execute();
  }

  async requestStop(responseId: string): Promise<void> {
    await this.#db
      .updateTable("responses")
      .set({ stop_asked: 1 })
      .where("id", "=", responseId)
      .where(IS_LIVE)
      .execute();
  }

  async listStopRequests(): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("responses")
      .select("id")
      .where("worker", "=", await this.#lease.number())
      .where(IS_LIVE)
      .where("stop_asked", "=", 1)
      .execute();
    return rows.map(({ id }) => id);
  }
}

/** The live runs that no other worker holds, oldest first, including this worker's own. */
async function findUnmade(db: Kysely<Database>, own: number) {
  const live = db.selectFrom("responses").select(["id", "worker", "created_at"]).where(IS_LIVE);
  const others = db.selectFrom("workers").select("id").where("id", "!=", own);
  const unmade = await live
    .where("worker", "is", null)
    // Each part can use the index of live responses; worker numbers are above 0.
    .unionAll(live.where("worker", ">", 0).where("worker", "not in", others))
    .execute();
  // Sorting in SQL would not use the index.
  return unmade.toSorted((one, other) => one.created_at - other.created_at || (one.id < other.id ? -1 : 1));
}

/** Assigns runs to this worker. */
async function claim(db: Kysely<Database>, own: number, ids: readonly string[]): Promise<readonly AbandonedRun[]> {
  const rows = await db
    .selectFrom("responses")
    .select(["organization", "project", "body", "task", "restarts", "worker"])
    .where("id", "in", ids)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  await db.updateTable("responses").set({ worker: own }).where("id", "in", ids).execute();
  return rows.map(({ organization, project, body, task, restarts, worker }) => {
    const response = rememberJson(storedJson<Response>(body), body);
    return { owner: { organization, project }, response, task: worker === own ? null : task, restarts };
  });
}
