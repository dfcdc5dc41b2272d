import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Kysely } from "kysely";
import type { Database } from "../database/schema.ts";
import { removeDeadWorkers } from "./remove-dead-workers.ts";

/** For how long a worker holds its runs without renewing its lease. */
export const LEASE_MS = 15_000;

/**
 * Which wait for a lock is long enough to have cost others their leases; far below what is left of a lease when it is
 * renewed.
 */
const LOCK_NOTICED_MS = 1_000;

/** The numbers that this process goes by. */
const OWN_NUMBERS = new Set<number>();

/** This process among those that serve the database. Registers when its number is first asked for. */
export class WorkerLease {
  readonly #db: Kysely<Database>;
  #number: Promise<number> | null = null;
  #registered: number | null = null;
  #renewedAt = Date.now();
  /** Since when this worker has tried to write to the list without success. */
  #waitsSince: number | null = null;
  /** From when on this worker may take others for dead by the clock. */
  #judgesFrom = 0;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Not to be asked for within a transaction: to register would wait for its end. */
  number(): Promise<number> {
    this.#number ??= this.#register().catch((error: unknown) => {
      this.#number = null; // The next who needs it tries again.
      throw error;
    });
    return this.#number;
  }

  /** False: another worker has taken the one of this number for dead. The next `number` is a new one. */
  async renew(number: number, db: Kysely<Database> = this.#db): Promise<boolean> {
    const { numUpdatedRows } = await this.#noticingLocks(() =>
      db
        .updateTable("workers")
        .set({ expires_at: Date.now() + LEASE_MS })
        .where("id", "=", number)
        .executeTakeFirstOrThrow(),
    );
    this.#noticeAbsence();
    if (numUpdatedRows === 0n && this.#registered === number) this.#number = null;
    return numUpdatedRows !== 0n;
  }

  /**
   * The workers, this one aside, that hold nothing any more: their lease has run out, or their process is known to be
   * gone.
   */
  async findDead(db: Kysely<Database>, own: number): Promise<readonly number[]> {
    const now = Date.now();
    await db
      .updateTable("workers")
      .set({ expires_at: now + LEASE_MS })
      .where("expires_at", ">", now + LEASE_MS) // As no lease can: the clock was set back.
      .execute();
    const others = await db.selectFrom("workers").selectAll().where("id", "!=", own).execute();
    const judges = now >= this.#judgesFrom;
    return others.filter((worker) => (judges && worker.expires_at < now) || isGone(worker)).map(({ id }) => id);
  }

  /** Leaves the list of workers. Whatever this worker still held can be claimed at once. */
  async resign(): Promise<void> {
    if (this.#number === null) return;
    const number = await this.#number;
    this.#number = null;
    OWN_NUMBERS.delete(number);
    await this.#db.transaction().execute(async (transaction) => {
      await transaction.updateTable("workers").set({ expires_at: 0 }).where("id", "=", number).execute();
      await removeDeadWorkers(transaction, [number]);
    });
  }

  async #register(): Promise<number> {
    const { id } = await this.#noticingLocks(() =>
      this.#db
        .insertInto("workers")
        .values({ host: HOST, pid: process.pid, started: startOf(process.pid), expires_at: Date.now() + LEASE_MS })
        .returning("id")
        .executeTakeFirstOrThrow(),
    );
    OWN_NUMBERS.add(id);
    this.#registered = id;
    this.#renewedAt = Date.now();
    return id;
  }

  /**
   * Where a lock kept this worker from writing, it kept the others from renewing their leases: they get a term for it.
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
   * Where this process was away, or its clock was set forward, others may have been away with it: they get a term to
   * say that they live.
   */
  #noticeAbsence(): void {
    const now = Date.now();
    if (now - this.#renewedAt > LEASE_MS) this.#judgesFrom = now + LEASE_MS;
    this.#renewedAt = now;
  }
}

/** Processes are known by their numbers only to those that count them together. */
const HOST = `${hostname()} ${pidNamespace()}`;

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/**
 * Whether the process that a worker was is not there any more. Another may have its number by now; one that nobody has
 * buried yet does nothing more.
 */
function isGone(worker: WorkerProcess): boolean {
  if (worker.host !== HOST || OWN_NUMBERS.has(worker.id)) return false;
  if (worker.pid === process.pid) return true;
  try {
    process.kill(worker.pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return true;
  }
  const started = startOf(worker.pid);
  return started === DEAD || (started !== null && worker.started !== null && started !== worker.started);
}

interface WorkerProcess {
  readonly id: number;
  readonly host: string;
  readonly pid: number;
  readonly started: string | null;
}

/** What stands in place of the start of a process that has ended and that its parent has not asked about yet. */
const DEAD = "dead";

/** When a process was started, in ticks since its machine was; null where the system does not tell. */
function startOf(pid: number): string | null {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Its name comes before, which can hold anything.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? DEAD : (fields[START_FIELD] ?? null);
  } catch {
    return null;
  }
}

/** The 22nd field of `/proc/PID/stat`, of which two come before the state. */
const START_FIELD = 19;
