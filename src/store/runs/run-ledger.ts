import type { Kysely } from "kysely";
import type { Response } from "../../../generated/responses-api/types.ts";
import { rememberJson } from "../../base/json/json-text.ts";
import type { AbandonedRun, RunLedger } from "../../runs/ports.ts";
import type { Database } from "../database/schema.ts";
import { isId } from "../database/time-first.ts";
import { storedJson } from "../stored-json.ts";
import type { ClaimedRun, DatabaseCalls, UnmadeRun } from "../thread/database-calls.ts";
import type { WriteJob, WriteOutcome } from "./commit-plan.ts";
import type { CommitQueue } from "./commit-queue.ts";
import { chooseFairly, countRunning } from "./fair-turns.ts";
import { IS_LIVE } from "./run-rows.ts";

/** Told of runs that no server makes, and of what this one does about them. No method may throw. */
export interface ClaimObserver {
  /** How many there are. */
  found(unmade: number): void;
  /** `queue`: another server has left them; `dead`: their server is gone; `own`: they were this server's own. */
  claimed(from: "queue" | "dead" | "own", runs: number): void;
  /** The lease of this server had expired, and others may have claimed its runs. */
  lostLease(): void;
}

const NOBODY: ClaimObserver = { found() {}, claimed() {}, lostLease() {} };

/** The ledger of workers and runs in the database. */
export class StoredRunLedger implements RunLedger {
  readonly #observer: ClaimObserver;
  readonly #db: Kysely<Database>;
  readonly #queue: CommitQueue<WriteJob, WriteOutcome>;
  readonly #calls: DatabaseCalls;

  constructor(
    db: Kysely<Database>,
    queue: CommitQueue<WriteJob, WriteOutcome>,
    calls: DatabaseCalls,
    observer: ClaimObserver = NOBODY,
  ) {
    this.#observer = observer;
    this.#db = db;
    this.#queue = queue;
    this.#calls = calls;
  }

  async claimAbandoned(
    limit: number,
    isHere: (responseId: string) => boolean = () => true,
    waitingMax = Number.POSITIVE_INFINITY,
  ) {
    const [unmade, own] = [await this.#calls.listUnmadeRuns(), await this.#calls.workerNumber()];
    const claimable = unmade.filter(({ id, worker }) => worker !== own || !isHere(id));
    this.#observer.found(claimable.length);
    const wanted = (await this.#leaveWaiting(claimable, waitingMax)).slice(0, limit);
    if (wanted.length === 0) return [];
    const claimed = (await this.#calls.claimRuns(wanted.map(({ id }) => id))).map(abandonedRun);
    const origins = new Map(wanted.map(({ id, worker }) => [id, originOf(worker, own)]));
    for (const { response } of claimed) this.#observer.claimed(origins.get(response.id) ?? "queue", 1);
    return claimed;
  }

  /** Leaves out those runs that wait and are too many here. */
  async #leaveWaiting(runs: readonly UnmadeRun[], waitingMax: number): Promise<readonly UnmadeRun[]> {
    const waiting = runs.filter(({ isWaiting }) => isWaiting === 1);
    if (waiting.length <= waitingMax) return runs;
    const others = runs.filter(({ isWaiting }) => isWaiting !== 1);
    return [...others, ...(waitingMax === 0 ? [] : chooseFairly(waiting, waitingMax, await countRunning(this.#db)))];
  }

  async countWaiting(): Promise<number> {
    const { count } = await this.#db
      .selectFrom("responses")
      .select((expression) => expression.fn.countAll<number>().as("count"))
      .where(IS_LIVE)
      .where("worker", "is", null)
      .executeTakeFirstOrThrow();
    return count;
  }

  async release(responseId: string): Promise<void> {
    await this.#queue.add({ type: "release", responseId }, "urgent");
  }

  async renewLease(): Promise<boolean> {
    const isKept = await this.#calls.renewLease();
    if (!isKept) this.#observer.lostLease();
    return isKept;
  }

  async listHeld(): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("responses")
      .select("id")
      .where("worker", "=", await this.#calls.workerNumber())
      .where(IS_LIVE)
      .execute();
    return rows.map(({ id }) => id);
  }

  async countRestart(responseId: string): Promise<void> {
    await this.#db
      .updateTable("responses")
      .set({ restarts: (expression) => expression("restarts", "+", 1) })
      .where(isId("responses.id", responseId))
      .execute();
  }

  async requestStop(responseId: string): Promise<void> {
    await this.#db
      .updateTable("responses")
      .set({ stop_asked: 1 })
      .where(isId("responses.id", responseId))
      .where(IS_LIVE)
      .execute();
  }

  async listStopRequests(): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("responses")
      .select("id")
      .where("worker", "=", await this.#calls.workerNumber())
      .where(IS_LIVE)
      .where("stop_asked", "=", 1)
      .execute();
    return rows.map(({ id }) => id);
  }
}

/** `worker`: who held the run. */
function originOf(worker: number | null, own: number): "queue" | "dead" | "own" {
  if (worker === null) return "queue";
  return worker === own ? "own" : "dead";
}

function abandonedRun({ organization, project, body, task, restarts }: ClaimedRun): AbandonedRun {
  const response = rememberJson(storedJson<Response>(body), body);
  return { owner: { organization, project }, response, task, restarts };
}
