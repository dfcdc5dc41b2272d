import type { Kysely } from "kysely";
import type { Database } from "../../database/schema.ts";

/** This process's entry in the list of workers, which it loses if it does not renew it in time. */
export interface Lease {
  /**
   * The number of this worker; registers it first if it has none. Must not be called inside a transaction: registering
   * would wait for the transaction's end.
   */
  number(): Promise<number>;
  /** Returns false if another worker has removed this number as dead. The next `number` is then a new one. */
  renew(number: number): Promise<boolean>;
  /** Renews at the start of a transaction. If true, nobody can remove the worker before the transaction ends. */
  hold(transaction: Kysely<Database>, number: number): Promise<boolean>;
  /**
   * The other workers that are dead: their lease has expired, or their process is known to be gone. Inside a
   * transaction, they cannot write until it ends.
   */
  findDead(db: Kysely<Database>, own: number): Promise<readonly number[]>;
  /** Removes this worker from the list. Others can claim its runs at once. */
  resign(): Promise<void>;
}
