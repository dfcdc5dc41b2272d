import { join } from "node:path";
import type { Config } from "../config/load-config.ts";
import { openStore, type Store, type StoreOptions } from "../store/open-store.ts";

/** The store that the configuration means, for a server as for a command beside it. */
export function openConfiguredStore(config: Config, onCommit?: StoreOptions["onCommit"]): Promise<Store> {
  return openStore({
    file: config.databaseFile,
    filesFolder: filesFolder(config),
    commitIntervalMs: config.eventCommitIntervalMs,
    lockWaitMs: config.databaseLockWaitMs,
    sync: config.databaseSync,
    contextBytesMax: config.contextBytesMax,
    ...(onCommit === undefined ? {} : { onCommit }),
  });
}

/** Where uploaded files lie, also while they come in. */
export function filesFolder({ dataDir }: Pick<Config, "dataDir">): string {
  return join(dataDir, "files");
}
