import { join } from "node:path";
import { StoreSpoilt } from "@antiphon/domain/storage.ts";
import type { Config } from "../config/load-config.ts";
import { StoreBusy } from "../runs/ports/store-faults.ts";
import { UnfitTables } from "../store/database/postgres/unfit-tables.ts";
import { openStore, type Store, type StoreOptions } from "../store/open-store.ts";
import { chooseFiles } from "./choices/choose-files.ts";
import { makeDataFolders } from "./data-folders.ts";
import { DatabaseError } from "./database-error.ts";

const MS_A_MINUTE = 60_000;

export interface ConfiguredStore extends Store {
  /** Checks whether external file storage can be reached; null if files are in the data folder. */
  readonly reachesFiles: (() => Promise<boolean>) | null;
}

/** Opens the configured store, for a server or for a command that runs beside a server. */
export async function openConfiguredStore(
  config: Config,
  observers: Pick<StoreOptions, "claims" | "onCommit" | "onFilesWaiting"> = {},
): Promise<ConfiguredStore> {
  makeDataFolders(config);
  const elsewhere = chooseFiles(config);
  const opening = openStore({
    file: config.databaseFile,
    databaseUrl: config.databaseUrl?.reveal(),
    connectionsMax: config.databasePoolMax,
    databaseTimeoutMs: config.databaseTimeoutMs,
    leaseMs: config.leaseMs,
    migrates: config.migrate === "auto",
    filesFolder: filesFolder(config),
    commitIntervalMs: config.eventCommitIntervalMs,
    lockWaitMs: config.databaseLockWaitMs,
    sync: config.databaseSync,
    contextBytesMax: config.contextBytesMax,
    ownerBytesMax: config.ownerBytesMax,
    ownerExchangeBytesMax: config.ownerExchangeBytesMax,
    vectorStoreBytesMax: config.vectorStoreBytesMax,
    vectorCacheBytes: config.embeddingCacheBytes,
    containersFolder: join(config.dataDir, "containers"),
    containerBytesMax: config.containerBytesMax,
    containerMinutesUnused: Math.ceil(config.containerTtlMs / MS_A_MINUTE),
    ownerContainersMax: config.ownerContainersMax,
    ownerContainerBytesMax: config.ownerContainerBytesMax,
    elsewhere,
    ...observers,
  });
  try {
    const store = await opening;
    const close = async (): Promise<void> => {
      await store.close();
      await elsewhere?.close();
    };
    return { ...store, close, reachesFiles: elsewhere === null ? null : () => elsewhere.isReachable() };
  } catch (error) {
    await elsewhere?.close();
    throw config.databaseUrl === null ? explainError(error, config.databaseFile) : explainedRemote(error);
  }
}

/** The same for PostgreSQL. Its message names the wrong user or database, but never the password. */
export function explainedRemote(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const reason = error.cause instanceof Error && "code" in error.cause ? ` (${String(error.cause.code)})` : "";
  const isKnown = error instanceof StoreBusy || error instanceof StoreSpoilt || error instanceof UnfitTables;
  if (isKnown) return new DatabaseError(`Cannot use DATABASE_URL. ${error.message}${reason}`, { cause: error });
  if (!("severity" in error)) return error;
  return new DatabaseError(`Cannot use DATABASE_URL: ${error.message}.`, { cause: error });
}

/** Explains to operators what to do about a database that cannot be opened. */
function explainError(error: unknown, file: string): unknown {
  if (error instanceof StoreBusy) return new DatabaseError(`Cannot use ${file}. ${error.message}`, { cause: error });
  if (!(error instanceof StoreSpoilt)) return error;
  const lines = [
    `Cannot use ${file}. ${error.message} Nothing in it was changed.`,
    `  Copy it first, together with ${file}-wal, ${file}-shm and ${file}.redo if they are there.`,
    `  Then restore a backup, or save what can be read: sqlite3 ${file} .recover | sqlite3 saved.db`,
  ];
  return new DatabaseError(lines.join("\n"), { cause: error });
}

/** The folder of complete and partial uploads. */
export function filesFolder({ dataDir }: Pick<Config, "dataDir">): string {
  return join(dataDir, "files");
}
