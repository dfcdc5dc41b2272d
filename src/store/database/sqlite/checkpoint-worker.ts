/** Copies the write-ahead log into the database on each message, and replies with the log's length. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** SQLite's result of a checkpoint. */
export interface CheckpointResult {
  /** The number of pages in the log. */
  readonly log: number;
}

const file: string = workerData;
const database = new DatabaseSync(file, { timeout: 0 });
parentPort?.on("message", () => {
  const row = database.prepare("pragma wal_checkpoint(passive)").get();
  const result: CheckpointResult = { log: Number(row?.["log"]) };
  parentPort?.postMessage(result);
});
