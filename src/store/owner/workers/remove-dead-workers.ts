import type { Kysely } from "kysely";
import type { RowInserter, RowOfResponse } from "../../database/row-inserter.ts";
import type { Database } from "../../database/schema.ts";
import type { TransactionRules } from "../../database/transaction-rules.ts";
import { type JournalEntry, readJournal } from "../../rows/events/journal.ts";
import { findNextNumbers } from "../../rows/runs/run-rows.ts";
import { redoChanges } from "./redo-changes.ts";

export type RemovalRules = Pick<TransactionRules, "inserter" | "redo">;

/**
 * Removes workers, so that they cannot write any more and their runs can be claimed. The events in their journals
 * become chunks, and the changes in their redo logs are stored. Run it in a transaction that has already written, and
 * call `removeRedoLogs` once that has committed.
 */
export async function removeDeadWorkers(
  transaction: Kysely<Database>,
  rules: RemovalRules,
  workers: readonly number[],
): Promise<void> {
  if (workers.length === 0) return;
  await recoverTails(transaction, rules.inserter, workers);
  for (const worker of workers) await redoChanges(transaction, rules, worker);
  await transaction.deleteFrom("workers").where("id", "in", workers).execute();
}

/** `workers`: removed ones. */
export function removeRedoLogs({ redo }: Pick<TransactionRules, "redo">, workers: readonly number[]): void {
  for (const worker of workers) redo?.remove(worker);
}

async function recoverTails(
  transaction: Kysely<Database>,
  inserter: RowInserter,
  workers: readonly number[],
): Promise<void> {
  for (const worker of workers) {
    const rows = await transaction
      .selectFrom("event_journal")
      .select("body")
      .where("worker", "=", worker)
      .orderBy("position")
      .execute();
    const entries = Map.groupBy(
      rows.flatMap((row) => readJournal(row.body)),
      (entry) => entry.responseId,
    );
    // The events of an ended run are all in chunks; events of a deleted run are not needed.
    const nextNumbers = entries.size === 0 ? new Map<string, number>() : await findNextNumbers(transaction, worker);
    const chunks = [...entries].flatMap(([responseId, entriesOfRun]) => {
      const nextNumber = nextNumbers.get(responseId);
      return nextNumber === undefined ? [] : chunksOf(entriesOfRun, nextNumber);
    });
    await inserter.insertParts(transaction, "event_chunks", chunks);
    await transaction.deleteFrom("event_journal").where("worker", "=", worker).execute();
  }
}

/** At most one chunk, of the entries that are in no chunk yet. An entry is in a chunk as a whole or not at all. */
function chunksOf(entries: readonly JournalEntry[], nextNumber: number): readonly RowOfResponse<"event_chunks">[] {
  const missing = entries.filter((entry) => entry.firstNumber >= nextNumber);
  const last = missing.at(-1);
  if (last === undefined) return [];
  const body = missing.map((entry) => entry.body).join("\n");
  return [{ response_id: last.responseId, first_number: nextNumber, last_number: last.lastNumber, body }];
}
