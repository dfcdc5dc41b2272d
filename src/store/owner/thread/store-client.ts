import type { Chunk } from "../../rows/events/run-tail.ts";
import type { RedoPart, WriteJob, WriteOutcome } from "../../rows/runs/write-job.ts";
import type { ClaimedRun, DatabaseCalls, Statement, StatementResult, UnmadeRow } from "../database-calls.ts";
import type { ErasureCursor, ErasureStep } from "../upkeep/erasure.ts";
import type { ExpiryCursor, ExpiryStep } from "../upkeep/expiry.ts";
import { freePlace, type OwnWorkers, ownNumber, setNumber, takePlace } from "../workers/own-workers.ts";
import type { DatabaseOptions } from "./sqlite-owner.ts";
import { storeThread, type ThreadConnection } from "./thread-connection.ts";

/** A thread that ends again within this time, in milliseconds, is not restarted. */
const RESTART_PAUSE_MS = 60_000;

/**
 * Calls the store thread. If the thread crashes, its calls reject with `StoreStopped` and it is restarted once:
 * committed data is in the file, and the old thread's runs are claimed like those of a dead worker.
 */
export class StoreClient implements DatabaseCalls {
  readonly #options: DatabaseOptions;
  /** The place of this store's worker among those of the process. */
  readonly own: OwnWorkers;
  readonly #onLost: (error: Error) => void;
  #thread: ThreadConnection;
  #startedAgainAt = Number.NEGATIVE_INFINITY;
  #isUp = false;
  #isClosing = false;
  #closing: Promise<void> | null = null;

  private constructor(options: DatabaseOptions, onLost: (error: Error) => void) {
    this.#options = options;
    this.#onLost = onLost;
    this.own = takePlace();
    this.#thread = storeThread();
  }

  /** Resolves once the database is open. `onLost` is called if the thread ended and cannot be restarted. */
  static async open(options: DatabaseOptions, onLost: (error: Error) => void): Promise<StoreClient> {
    const client = new StoreClient(options, onLost);
    try {
      await client.#openDatabase();
    } catch (error) {
      client.#leave();
      throw error;
    }
    return client;
  }

  /** Resolves to false at once while the thread restarts. */
  async isSound(): Promise<boolean> {
    return this.#isUp && (await this.#thread.ask(this.own.place, "isSound"));
  }

  query(statement: Statement): Promise<StatementResult> {
    return this.#thread.ask(this.own.place, "query", statement);
  }

  transact(statements: readonly Statement[]): Promise<readonly bigint[] | null> {
    return this.#thread.ask(this.own.place, "transact", statements);
  }

  commit(jobs: readonly WriteJob[], redo: RedoPart | null = null): Promise<readonly WriteOutcome[]> {
    return this.#thread.commit(this.own.place, jobs, redo);
  }

  findTail(responseId: string): Promise<Chunk | null> {
    return this.#thread.ask(this.own.place, "findTail", responseId);
  }

  /** Calls the thread only while this store has no number. */
  async workerNumber(): Promise<number> {
    const number = ownNumber(this.own);
    return number === 0 ? await this.#thread.ask(this.own.place, "workerNumber") : number;
  }

  renewLease(): Promise<boolean> {
    return this.#thread.ask(this.own.place, "renewLease");
  }

  findDeadWorkers(): Promise<readonly number[]> {
    return this.#thread.ask(this.own.place, "findDeadWorkers");
  }

  listUnmadeRuns(): Promise<readonly UnmadeRow[]> {
    return this.#thread.ask(this.own.place, "listUnmadeRuns");
  }

  claimRuns(ids: readonly string[]): Promise<readonly ClaimedRun[]> {
    return this.#thread.ask(this.own.place, "claimRuns", ids);
  }

  deleteExpired(before: number, cursor: ExpiryCursor | null): Promise<ExpiryStep> {
    return this.#thread.ask(this.own.place, "deleteExpired", before, cursor);
  }

  eraseUnused(cursor: ErasureCursor): Promise<ErasureStep> {
    return this.#thread.ask(this.own.place, "eraseUnused", cursor);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    try {
      await this.#thread.ask(this.own.place, "close");
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    this.#isClosing = true;
    freePlace(this.own);
  }

  async #openDatabase(): Promise<void> {
    void this.#thread.exit.then((fault) => {
      if (!this.#isClosing) this.#startAgain(fault);
    });
    await this.#thread.open(this.#options, this.own);
    this.#isUp = true;
  }

  #startAgain(fault: unknown): void {
    if (!this.#isUp) return; // Opening rejects.
    this.#isUp = false;
    setNumber(this.own, 0);
    const now = performance.now();
    const isTooSoon = now - this.#startedAgainAt < RESTART_PAUSE_MS;
    // Data in memory is lost with the thread.
    if (isTooSoon || this.#options.file === ":memory:") return this.#lose(fault);
    this.#startedAgainAt = now;
    this.#thread = storeThread();
    this.#openDatabase().catch((error: unknown) => this.#lose(error));
  }

  #lose(cause: unknown): void {
    this.#isClosing = true;
    this.#onLost(new Error("The store thread ended and cannot be started again.", { cause }));
  }
}
