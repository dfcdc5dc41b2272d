import { dirname } from "node:path";
import { makeFolder } from "../base/files/make-folder.ts";
import type { Config } from "../config/load-config.ts";

/**
 * Makes the folders of a server that keeps its data on this machine. Comes first of all, because what uses a folder
 * that cannot be made tells less about it.
 */
export function makeDataFolders({ databaseUrl, dataDir, databaseFile }: Config): void {
  if (databaseUrl !== null) return;
  makeFolder(dataDir);
  if (databaseFile !== ":memory:") makeFolder(dirname(databaseFile));
}
