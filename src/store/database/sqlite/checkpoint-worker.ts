/** Copies the write-ahead log into the database each time it gets a message, and says how long the log is. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** What SQLite says after a checkpoint. */
export interface CheckpointResult {
  /** How many pages the log holds. */
  readonly log: number;
}

const file: string = workerData;
const database = new DatabaseSync(file, { timeout: 0 });
parentPort?.on("message", () => {
  const row = database.prepare("pragma wal_checkpoint(passive)").get();
  const result: CheckpointResult = { log: Number(row?.["log"]) };
  parentPort?.postMessage(result);
});
