import { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";

const file: unknown = workerData;
if (typeof file === "string") {
  const database = new DatabaseSync(file, { timeout: 0 });
  database.exec("pragma wal_checkpoint(passive)");
  database.close();
}
