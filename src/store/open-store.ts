import { Kysely } from "kysely";
import type { ResponseStore } from "../responses-api/ports.ts";
import type { EventLog } from "../runs/ports.ts";
import type { WriteJob, WriteOutcome } from "./commit-plan.ts";
import { CommitQueue, type CommitReport } from "./commit-queue.ts";
import { StoredEventLog, sizeOfJob } from "./event-log.ts";
import { type KeyStore, StoredKeys } from "./key-store.ts";
import { migrate } from "./migrate.ts";
import { StoredResponses } from "./response-store.ts";
import { RunWriter } from "./run-writer.ts";
import type { Database } from "./schema.ts";
import { sqliteDialect } from "./sqlite.ts";

/** The least time between two commits of appended events: what a live reader may wait, and what all runs share a commit for. */
const COMMIT_INTERVAL_MS = 4;
/** How much text one commit takes before the rest has to wait for the next. */
const COMMIT_CHARACTERS_MAX = 8 * 1024 * 1024;

export interface StoreOptions {
  /** Path of the database, or `:memory:`. The file and its folder are made if they are not there. */
  readonly file: string;
  readonly commitIntervalMs?: number;
  readonly onCommit?: (commit: CommitReport) => void;
}

export interface Store {
  readonly responses: ResponseStore;
  readonly events: EventLog;
  readonly keys: KeyStore;
  /** Whether the database answers. */
  isReady(): Promise<boolean>;
  /** Stores what waits, then leaves the database. */
  close(): Promise<void>;
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const db = new Kysely<Database>({ dialect: sqliteDialect(options.file) });
  await migrate(db).catch(async (error: unknown) => {
    await db.destroy();
    throw error;
  });
  const writer = new RunWriter(db);
  const queue = new CommitQueue<WriteJob, WriteOutcome>({
    commit: (jobs) => writer.commit(jobs),
    sizeOf: sizeOfJob,
    intervalMs: options.commitIntervalMs ?? COMMIT_INTERVAL_MS,
    commitSizeMax: COMMIT_CHARACTERS_MAX,
    onCommit: options.onCommit,
  });
  const keys = new StoredKeys(db);
  return {
    responses: new StoredResponses(db, queue),
    events: new StoredEventLog(db, queue, writer),
    keys,
    isReady: () =>
      keys.count().then(
        () => true,
        () => false,
      ),
    close: async () => {
      await queue.close();
      await db.destroy();
    },
  };
}
