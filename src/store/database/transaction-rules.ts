import type { InsertObject, Kysely } from "kysely";
import type { RedoFolders } from "../redo-log/redo-folders.ts";
import { type RowInserter, type RowOfResponse, ValuesInserter } from "./row-inserter.ts";
import type { Database } from "./schema.ts";

/** Differences between the transactions of the two databases. */
export interface TransactionRules {
  readonly inserter: RowInserter;
  /** The redo logs of all workers; null if there are none. */
  readonly redo: RedoFolders | null;
  /** How commits continue after faults; null if every fault is final and known. */
  readonly recovery: CommitRecovery | null;
  /**
   * Adds everything in one statement, or nothing if the worker was removed as dead. Null if the database does not need
   * it.
   */
  readonly addAll: ((db: Kysely<Database>, additions: Additions) => Promise<void>) | null;
  /** Locks these conversations and their locks against changes until the transaction ends. */
  holdConversations(transaction: Kysely<Database>, ids: readonly string[]): Promise<void>;
  /** Locks chains against removal of links until the transaction ends. */
  holdChains(transaction: Kysely<Database>): Promise<void>;
}

/** New responses with their items and first events, and a row of the journal. */
export interface Additions {
  /** The text may be empty. */
  readonly journal: { readonly worker: number; readonly position: number; readonly body: string };
  readonly responses: readonly InsertObject<Database, "responses">[];
  /** Parts of these responses, like the next member. */
  readonly items: readonly RowOfResponse<"items">[];
  readonly chunks: readonly RowOfResponse<"event_chunks">[];
}

/**
 * Resolves commits whose reply was lost. For this, each commit adds a row to its worker's journal, even without text.
 */
export interface CommitRecovery {
  /** How long a commit is retried, in milliseconds. */
  readonly patienceMs: number;
  /** Whether the fault is temporary. */
  mayPass(error: unknown): boolean;
  /** Whether the statement may have been executed despite the fault. */
  isUnknown(error: unknown): boolean;
  /**
   * Finds out whether the commit with this row was executed. If not, it never will be. `gone`: unknown, because the
   * worker was removed as dead.
   */
  settle(db: Kysely<Database>, row: { readonly worker: number; readonly position: number }): Promise<CommitEnd>;
}

export type CommitEnd = "stored" | "undone" | "gone";

/** In SQLite, a transaction is alone from its first write on, and its result is never lost. */
export const SQLITE_RULES: TransactionRules = {
  inserter: new ValuesInserter(),
  redo: null,
  recovery: null,
  addAll: null,
  holdConversations: async () => {},
  holdChains: async () => {},
};
