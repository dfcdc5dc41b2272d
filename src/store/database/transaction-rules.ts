import type { Kysely } from "kysely";
import { type RowInserter, ValuesInserter } from "./row-inserter.ts";
import type { Database } from "./schema.ts";

/** What a transaction must do in one database and not in the other. */
export interface TransactionRules {
  readonly inserter: RowInserter;
  /** Whether each commit is marked, so that one whose answer was lost can be found. */
  readonly marksCommits: boolean;
  /** Lets nobody else change these conversations, or their holds, before the transaction ends. */
  holdConversations(transaction: Kysely<Database>, ids: readonly string[]): Promise<void>;
  /** Lets nobody else remove links of chains before the transaction ends. */
  holdChains(transaction: Kysely<Database>): Promise<void>;
}

/** In SQLite, a transaction is alone from its first write on, and its answer comes from this process. */
export const SQLITE_RULES: TransactionRules = {
  inserter: new ValuesInserter(),
  marksCommits: false,
  holdConversations: async () => {},
  holdChains: async () => {},
};
