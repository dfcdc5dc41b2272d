import { readFileSync } from "node:fs";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { RowInserter } from "../../database/row-inserter.ts";
import type { Database } from "../../database/schema.ts";
import type { Lease } from "../workers/lease.ts";
import { isOwnNumber, type OwnWorkers, ownNumber, setNumber } from "../workers/own-workers.ts";
import { registerWorker } from "../workers/register-worker.ts";
import { removeDeadWorkers } from "../workers/remove-dead-workers.ts";
import { HOST, hasEnded, type WorkerProcess } from "../workers/worker-process.ts";

/** The longest possible lease from now, unless the database's clock was set back. */
const LEASE_MS_MAX = 600_000;

/** Chosen so that a lease outlives two failed renewals. */
const RENEWALS_PER_TERM = 3;

/** The database's time in milliseconds: no other clock decides about leases. */
const NOW_MS: RawBuilder<number> = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/**
 * Registers this process as a worker of a database that other machines also write, and renews its lease. Its holder
 * considers nobody dead by the clock until its own lease was renewed without fault for one term: while the database was
 * down, others could not renew either.
 */
export class PostgresLease implements Lease {
  readonly #db: Kysely<Database>;
  readonly #own: OwnWorkers;
  readonly #leaseMs: number;
  readonly #inserter: RowInserter;
  /** Renews the lease even if this process is busy with the database. */
  #timer: NodeJS.Timeout | null = null;
  #number: Promise<number> | null = null;
  #registeredId: number | null = null;
  /** By the local clock, like the next two. */
  #renewedAt = performance.now();
  #hasFailed = false;
  #judgesFrom = 0;

  constructor(db: Kysely<Database>, own: OwnWorkers, leaseMs: number, inserter: RowInserter) {
    this.#inserter = inserter;
    this.#db = db;
    this.#own = own;
    this.#leaseMs = leaseMs;
  }

  number(): Promise<number> {
    this.#number ??= this.#register().catch((error: unknown) => {
      this.#number = null; // The next caller retries.
      throw error;
    });
    return this.#number;
  }

  async renew(number: number): Promise<boolean> {
    const { numAffectedRows } = await this.#noticingAbsence(() =>
      sql`update workers set expires_at = ${this.#end()} where id = ${number}`.execute(this.#db),
    );
    return this.#isKept(number, numAffectedRows === 1n);
  }

  /** Compatible with renewals, but a removal waits for this lock. */
  async hold(transaction: Kysely<Database>, number: number): Promise<boolean> {
    const { rows } = await sql`select 1 from workers where id = ${number} for key share`.execute(transaction);
    return this.#isKept(number, rows.length === 1);
  }

  async findDead(db: Kysely<Database>, own: number): Promise<readonly number[]> {
    await sql`update workers set expires_at = ${this.#end()} where expires_at > ${NOW_MS} + ${LEASE_MS_MAX}`.execute(
      db,
    );
    const others = await db
      .selectFrom("workers")
      .selectAll()
      .select(this.#hasExpired().as("hasExpired"))
      .where("id", "!=", own)
      .execute();
    const goneIds = others.filter((worker) => this.#isGone(worker)).map(({ id }) => id);
    const expiredWorkers =
      performance.now() < this.#judgesFrom ? [] : others.filter(({ hasExpired }) => hasExpired === 1);
    if (goneIds.length + expiredWorkers.length === 0) return [];
    // Excludes workers that are writing now, and workers that renewed their lease meanwhile.
    const { rows } = await sql<{ readonly id: number }>`
      select id from workers where id = any(${sql.val(goneIds)}::bigint[])
        or (id = any(${sql.val(expiredWorkers.map(({ id }) => id))}::bigint[]) and ${this.#hasExpired()})
      order by id for update skip locked`.execute(db);
    return rows.map(({ id }) => id);
  }

  async resign(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#number === null) return;
    const number = await this.#number;
    this.#number = null;
    setNumber(this.#own, 0);
    await this.#db.transaction().execute(async (transaction) => {
      await sql`select id from workers where id = ${number} for update`.execute(transaction);
      await removeDeadWorkers(transaction, { inserter: this.#inserter, redo: null }, [number]);
    });
  }

  async #register(): Promise<number> {
    const id = await this.#noticingAbsence(() =>
      registerWorker(this.#db, this.#own, { host: MACHINE, expiresAt: this.#end() }),
    );
    this.#registeredId = id;
    this.#timer ??= setInterval(() => void this.#renewInTime(), this.#leaseMs / RENEWALS_PER_TERM).unref();
    return id;
  }

  async #renewInTime(): Promise<void> {
    const number = ownNumber(this.#own);
    if (number !== 0) await this.renew(number).catch(() => {}); // The next write finds out.
  }

  #isKept(number: number, isRegistered: boolean): boolean {
    if (isRegistered || this.#registeredId !== number) return isRegistered;
    this.#number = null;
    setNumber(this.#own, 0);
    return isRegistered;
  }

  #end(): RawBuilder<number> {
    return sql`${NOW_MS} + ${this.#leaseMs}`;
  }

  /** Nobody could renew while the database was down. 0 means that the worker gave up its lease. */
  #hasExpired(): RawBuilder<number> {
    return sql`(expires_at = 0 or (expires_at < ${NOW_MS}
      and pg_postmaster_start_time() < clock_timestamp() - ${this.#leaseMs} * interval '1 millisecond'))`;
  }

  /** Whether a worker has ended, as far as this machine can tell. */
  #isGone(worker: WorkerProcess): boolean {
    if (worker.host !== MACHINE) return false;
    if (worker.pid === process.pid) return !isOwnNumber(this.#own, worker.id);
    return hasEnded(worker);
  }

  /** After a fault, or if this process was suspended, others get a term to renew. */
  async #noticingAbsence<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      const result = await write();
      const now = performance.now();
      if (this.#hasFailed || now - this.#renewedAt > this.#leaseMs) this.#judgesFrom = now + this.#leaseMs;
      this.#hasFailed = false;
      this.#renewedAt = now;
      return result;
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }
}

/** Several machines can have the same name and the same process numbers. */
const MACHINE = `${HOST} ${bootId()}`;

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
