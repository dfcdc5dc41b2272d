import type { InsertObject, Kysely } from "kysely";
import { type RowInserter, type RowOfResponse, ValuesInserter } from "./row-inserter.ts";
import type { Database } from "./schema.ts";

/** What a transaction must do in one database and not in the other. */
export interface TransactionRules {
  readonly inserter: RowInserter;
  /** How commits go on after faults; null if every fault is final and known. */
  readonly recovery: CommitRecovery | null;
  /**
   * Adds everything in one statement, or nothing if the worker was removed as dead. Null where a statement costs too
   * little for that.
   */
  readonly addAll: ((db: Kysely<Database>, additions: Additions) => Promise<void>) | null;
  /** Lets nobody else change these conversations, or their holds, before the transaction ends. */
  holdConversations(transaction: Kysely<Database>, ids: readonly string[]): Promise<void>;
  /** Lets nobody else remove links of chains before the transaction ends. */
  holdChains(transaction: Kysely<Database>): Promise<void>;
}

/** New responses with their items and first events, and a row of the journal. */
export interface Additions {
  /** The text may be empty. */
  readonly journal: { readonly worker: number; readonly position: number; readonly body: string };
  readonly responses: readonly InsertObject<Database, "responses">[];
  /** Of these responses, like the next. */
  readonly items: readonly RowOfResponse<"items">[];
  readonly chunks: readonly RowOfResponse<"event_chunks">[];
}

/**
 * Finds commits whose answer was lost. For that, each commit adds a row to its worker's journal, though it may have no
 * text.
 */
export interface CommitRecovery {
  /** How long a commit is tried again, in milliseconds. */
  readonly patienceMs: number;
  /** Whether the fault may pass. */
  mayPass(error: unknown): boolean;
  /** Whether the statement may have been carried out in spite of the fault. */
  isUnknown(error: unknown): boolean;
  /**
   * Finds out whether a commit was carried out that was to add this row. If not, it never will be. `gone`: nobody can
   * tell, because the worker was removed as dead.
   */
  settle(db: Kysely<Database>, row: { readonly worker: number; readonly position: number }): Promise<CommitEnd>;
}

export type CommitEnd = "stored" | "undone" | "gone";

/** In SQLite, a transaction is alone from its first write on, and its answer comes from this process. */
export const SQLITE_RULES: TransactionRules = {
  inserter: new ValuesInserter(),
  recovery: null,
  addAll: null,
  holdConversations: async () => {},
  holdChains: async () => {},
};
