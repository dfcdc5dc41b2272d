import type { Kysely } from "kysely";
import { builtOnce, type StandIns } from "../../database/built-once.ts";
import type { Database } from "../../database/schema.ts";
import type { Lease } from "./lease.ts";
import { isOwnNumber, monotonicNow, noteRenewal, type OwnWorkers, setNumber } from "./own-workers.ts";
import { registerWorker } from "./register-worker.ts";
import { type RemovalRules, removeDeadWorkers, removeRedoLogs } from "./remove-dead-workers.ts";
import { HOST, hasEnded, type WorkerProcess } from "./worker-process.ts";

/** How long a lease lasts without renewal, in milliseconds. */
export const LEASE_MS = 15_000;

/**
 * A longer wait for a lock may have kept other workers from renewing. Much shorter than the rest of a lease at its
 * renewal.
 */
const LOCK_NOTICED_MS = 1_000;

/** Registers this process as a worker when its number is first needed, and renews its lease. */
export class WorkerLease implements Lease {
  readonly #db: Kysely<Database>;
  readonly #own: OwnWorkers;
  readonly #rules: RemovalRules;
  #number: Promise<number> | null = null;
  #registeredId: number | null = null;
  #renewedAt = Date.now();
  /** Since when writes to the list of workers have failed; null if the latest succeeded. */
  #waitsSince: number | null = null;
  /** Before this time, no worker is considered dead because of its lease. */
  #judgesFrom = 0;

  constructor(db: Kysely<Database>, own: OwnWorkers, rules: RemovalRules) {
    this.#rules = rules;
    this.#db = db;
    this.#own = own;
  }

  number(): Promise<number> {
    this.#number ??= this.#register().catch((error: unknown) => {
      this.#number = null; // The next caller retries.
      throw error;
    });
    return this.#number;
  }

  async renew(number: number, db: Kysely<Database> = this.#db): Promise<boolean> {
    const at = monotonicNow();
    const { numAffectedRows } = await this.#noticingLocks(() =>
      renewLease(db, { number, expiresAt: Date.now() + LEASE_MS }),
    );
    this.#noticeAbsence();
    const isRegistered = numAffectedRows === 1n;
    if (isRegistered) noteRenewal(this.#own, at);
    if (isRegistered || this.#registeredId !== number) return isRegistered;
    this.#number = null;
    setNumber(this.#own, 0);
    return isRegistered;
  }

  /** Renewing is a write, and a writer is alone until its transaction ends. */
  hold(transaction: Kysely<Database>, number: number): Promise<boolean> {
    return this.renew(number, transaction);
  }

  async findDead(db: Kysely<Database>, own: number): Promise<readonly number[]> {
    const now = Date.now();
    await db
      .updateTable("workers")
      .set({ expires_at: now + LEASE_MS })
      .where("expires_at", ">", now + LEASE_MS) // Impossible for a valid lease: the clock was set back.
      .execute();
    const others = await db.selectFrom("workers").selectAll().where("id", "!=", own).execute();
    const judges = now >= this.#judgesFrom;
    return others.filter((worker) => (judges && worker.expires_at < now) || this.#isGone(worker)).map(({ id }) => id);
  }

  async resign(): Promise<void> {
    if (this.#number === null) return;
    const number = await this.#number;
    this.#number = null;
    setNumber(this.#own, 0);
    await this.#db.transaction().execute(async (transaction) => {
      await transaction.updateTable("workers").set({ expires_at: 0 }).where("id", "=", number).execute();
      await removeDeadWorkers(transaction, this.#rules, [number]);
    });
    removeRedoLogs(this.#rules, [number]);
  }

  /** Whether a worker has ended, as far as this host can tell. */
  #isGone(worker: WorkerProcess): boolean {
    if (worker.host !== HOST) return false;
    if (worker.pid === process.pid) return !isOwnNumber(this.#own, worker.id);
    return hasEnded(worker);
  }

  async #register(): Promise<number> {
    const at = monotonicNow();
    const id = await this.#noticingLocks(() =>
      registerWorker(this.#db, this.#own, { host: HOST, expiresAt: Date.now() + LEASE_MS }),
    );
    noteRenewal(this.#own, at);
    this.#registeredId = id;
    this.#renewedAt = Date.now();
    return id;
  }

  /**
   * A lock that kept this worker from writing may also have kept others from renewing: they get another lease period.
   * Failed writes count as waiting.
   */
  async #noticingLocks<Result>(write: () => Promise<Result>): Promise<Result> {
    const since = (this.#waitsSince ??= performance.now());
    const result = await write();
    this.#waitsSince = null;
    if (performance.now() - since > LOCK_NOTICED_MS) this.#judgesFrom = Date.now() + LEASE_MS;
    return result;
  }

  /**
   * If this process was suspended, or its clock was set forward, others may have been suspended too: they get a lease
   * period to renew.
   */
  #noticeAbsence(): void {
    const now = Date.now();
    if (now - this.#renewedAt > LEASE_MS) this.#judgesFrom = now + LEASE_MS;
    this.#renewedAt = now;
  }
}

type Renewal = { readonly number: number; readonly expiresAt: number };

const renewLease = builtOnce((db: Kysely<Database>, params: StandIns<Renewal>) =>
  db
    .updateTable("workers")
    .set({ expires_at: params.value("expiresAt") })
    .where("id", "=", params.value("number"))
    .compile(),
);
