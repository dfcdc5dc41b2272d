import { rememberJson } from "@antiphon/base/json/json-text.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type {
  AbandonedRun,
  Release,
  RunLedger,
  RunRequests,
  UnmadeRun,
  UnmadeRuns,
} from "../../../runs/ports/run-ledger.ts";
import type { TurnAttempts } from "../../../runs/ports/store-faults.ts";
import type { Database } from "../../database/schema.ts";
import { storedJson } from "../../database/stored-json.ts";
import { isId } from "../../database/time-first.ts";
import type { ClaimedRun, DatabaseCalls, UnmadeRow } from "../../owner/database-calls.ts";
import { IS_LIVE } from "../../rows/runs/run-rows.ts";
import { countRunning, takeTurns } from "./fair-turns.ts";
import type { RunCommits } from "./run-commits.ts";

/** Observes runs that no server makes, and how this server treats them. No method may throw. */
export interface ClaimObserver {
  /** The number of such runs. */
  countUnmade(unmade: number): void;
  /** `queue`: another server released them; `dead`: their server is gone; `own`: they were this server's own. */
  countClaims(from: UnmadeRun["from"], runs: number): void;
  /** The lease of this server expired, and others may have claimed its runs. */
  lostLease(): void;
}

const NOBODY: ClaimObserver = { countUnmade() {}, countClaims() {}, lostLease() {} };

/** The ledger of workers and runs in the database. */
export class StoredRunLedger implements RunLedger {
  readonly #observer: ClaimObserver;
  readonly #db: Kysely<Database>;
  readonly #commits: RunCommits;
  readonly #calls: DatabaseCalls;

  constructor(db: Kysely<Database>, commits: RunCommits, calls: DatabaseCalls, observer: ClaimObserver = NOBODY) {
    this.#observer = observer;
    this.#db = db;
    this.#commits = commits;
    this.#calls = calls;
  }

  async listUnmade(isHere: (responseId: string) => boolean): Promise<UnmadeRuns> {
    const rows = await this.#calls.listUnmadeRuns();
    const own = await this.#calls.workerNumber();
    const unmade = rows.filter(({ id, worker }) => worker !== own || !isHere(id));
    this.#observer.countUnmade(unmade.length);
    const waiting = unmade.filter(({ needsPlace }) => needsPlace === 1);
    const others = unmade.filter(({ needsPlace }) => needsPlace !== 1);
    const inTurn = waiting.length === 0 ? [] : takeTurns(waiting, await countRunning(this.#db));
    return { runs: [...others, ...inTurn].map((row) => unmadeRun(row, own)), ...(await this.#findWorkers()) };
  }

  async claim(runs: readonly UnmadeRun[]): Promise<readonly AbandonedRun[]> {
    if (runs.length === 0) return [];
    const origins = new Map(runs.map(({ responseId, from }) => [responseId, from]));
    const claims = await this.#calls.claimRuns([...origins.keys()]);
    return claims.map((row) => {
      const response = rememberJson(storedJson<Response>(row.body), row.body);
      const from = origins.get(response.id) ?? "queue";
      this.#observer.countClaims(from, 1);
      return abandonedRun(row, response, from);
    });
  }

  async #findWorkers(): Promise<Pick<UnmadeRuns, "workers" | "taskVersion">> {
    const rows = await this.#db.selectFrom("workers").select("task_version").execute();
    return { workers: rows.length, taskVersion: Math.max(0, ...rows.map(({ task_version: version }) => version ?? 0)) };
  }

  async countWaiting(): Promise<number> {
    const { count } = await this.#db
      .selectFrom("responses")
      .select((expression) => expression.fn.countAll<number>().as("count"))
      .where(IS_LIVE)
      .where("worker", "is", null)
      .where("paused_at", "is", null)
      .executeTakeFirstOrThrow();
    return count;
  }

  async release(responseId: string, { hadBegun, pauseMs = null, attempts = null }: Release): Promise<void> {
    const json = attempts === null ? null : JSON.stringify(attempts);
    await this.#commits.add({ type: "release", responseId, hadBegun, pauseMs, attempts: json }, "urgent");
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

  async countRestart(responseId: string, steps: number): Promise<void> {
    await this.#db
      .updateTable("responses")
      .set({
        restarts: sql<number>`case when restart_steps = ${steps} then restarts + 1 else 1 end`,
        restart_steps: steps,
      })
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

  requestPause(responseId: string): Promise<boolean> {
    const now = Math.floor(Date.now() / 1000);
    return this.#setPause(responseId, sql<number>`coalesce(paused_at, ${now})`);
  }

  requestResume(responseId: string): Promise<boolean> {
    return this.#setPause(responseId, sql<null>`null`);
  }

  async #setPause(responseId: string, pausedAt: RawBuilder<number | null>): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable("responses")
      .set({ paused_at: pausedAt })
      .where(isId("responses.id", responseId))
      .where(IS_LIVE)
      .where("task", "is not", null)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  async stopPaused(before: number): Promise<readonly string[]> {
    const rows = await this.#db
      .updateTable("responses")
      .set({ stop_asked: 1 })
      .where(IS_LIVE)
      .where("paused_at", "<", before)
      .where("stop_asked", "=", 0)
      .returning("id")
      .execute();
    return rows.map(({ id }) => id);
  }

  async listRequests(): Promise<readonly RunRequests[]> {
    const rows = await this.#db
      .selectFrom("responses")
      .select(["id", "stop_asked", "paused_at", "is_steered"])
      .where("worker", "=", await this.#calls.workerNumber())
      .where(IS_LIVE)
      .where(sql<SqlBool>`(stop_asked = 1 or paused_at is not null or is_steered = 1)`)
      .execute();
    return rows.map((row) => ({
      responseId: row.id,
      stops: row.stop_asked === 1,
      pauses: row.paused_at !== null,
      isSteered: row.is_steered === 1,
    }));
  }
}

function unmadeRun({ id, worker, needsPlace, taskHead }: UnmadeRow, own: number): UnmadeRun {
  const version = /^\{"version":(\d+),/.exec(taskHead ?? "")?.[1];
  return {
    responseId: id,
    from: originOf(worker, own),
    needsPlace: needsPlace === 1,
    taskVersion: version === undefined ? null : Number(version),
  };
}

/** `worker`: the previous holder of the run. */
function originOf(worker: number | null, own: number): UnmadeRun["from"] {
  if (worker === null) return "queue";
  return worker === own ? "own" : "dead";
}

function abandonedRun(row: ClaimedRun, response: Response, from: UnmadeRun["from"]): AbandonedRun {
  const { organization, project, task, restarts, restart_steps: restartSteps, turn_attempts: attempts } = row;
  return {
    owner: { organization, project },
    response,
    task,
    from,
    restarts,
    restartSteps,
    attempts: attempts === null ? null : storedJson<TurnAttempts>(attempts),
    requests: {
      responseId: response.id,
      stops: (row.requests & 1) !== 0,
      pauses: (row.requests & 2) !== 0,
      isSteered: (row.requests & 4) !== 0,
    },
  };
}
