import { dirname } from "node:path";
import { makeFolder } from "@antiphon/base/files/make-folder.ts";
import type { Config } from "../config/load-config.ts";

/**
 * Creates the folders of a server that stores data on this machine. Runs first, because later errors about a missing
 * folder explain less.
 */
export function makeDataFolders({ databaseUrl, dataDir, databaseFile }: Config): void {
  if (databaseUrl !== null) return;
  makeFolder(dataDir);
  if (databaseFile !== ":memory:") makeFolder(dirname(databaseFile));
}
