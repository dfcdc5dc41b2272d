import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Kysely } from "kysely";
import { recoverTails } from "./recover-tails.ts";
import type { Database } from "./schema.ts";

/** For how long a worker holds its runs without renewing its lease. */
export const LEASE_MS = 15_000;

/** The numbers that this process goes by. */
const OWN_NUMBERS = new Set<number>();

/** This process among those that serve the database. Registers when its number is first asked for. */
export class WorkerLease {
  readonly #db: Kysely<Database>;
  #number: Promise<number> | null = null;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  number(): Promise<number> {
    this.#number ??= this.#register().catch((error: unknown) => {
      this.#number = null; // The next who needs it tries again.
      throw error;
    });
    return this.#number;
  }

  /** False: another worker has taken this one for dead. The next `number` is a new one. */
  async renew(db: Kysely<Database> = this.#db): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable("workers")
      .set({ expires_at: Date.now() + LEASE_MS })
      .where("id", "=", await this.number())
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) this.#number = null;
    return numUpdatedRows !== 0n;
  }

  /** Leaves the list of workers. Whatever this worker still held can be claimed at once. */
  async resign(): Promise<void> {
    if (this.#number === null) return;
    const number = await this.#number;
    this.#number = null;
    OWN_NUMBERS.delete(number);
    await this.#db.transaction().execute(async (transaction) => {
      await transaction.updateTable("workers").set({ expires_at: 0 }).where("id", "=", number).execute();
      await recoverTails(transaction, [number]);
      await transaction.deleteFrom("workers").where("id", "=", number).execute();
    });
  }

  async #register(): Promise<number> {
    const { id } = await this.#db
      .insertInto("workers")
      .values({ host: HOST, pid: process.pid, expires_at: Date.now() + LEASE_MS })
      .returning("id")
      .executeTakeFirstOrThrow();
    OWN_NUMBERS.add(id);
    return id;
  }
}

/** The workers that hold nothing any more: their lease has run out, or their process is known to be gone. */
export async function findDeadWorkers(db: Kysely<Database>, own: number): Promise<readonly number[]> {
  const others = await db.selectFrom("workers").selectAll().where("id", "!=", own).execute();
  return others.filter((worker) => worker.expires_at < Date.now() || isGone(worker)).map(({ id }) => id);
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

/** An earlier process may have had the number that this one has now. */
function isGone(worker: { readonly id: number; readonly host: string; readonly pid: number }): boolean {
  if (worker.host !== HOST || OWN_NUMBERS.has(worker.id)) return false;
  if (worker.pid === process.pid) return true;
  try {
    process.kill(worker.pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
