import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { randomHex } from "@antiphon/base/ids.ts";
import type { StoreClient } from "./owner/thread/store-client.ts";
import { OtherRedoLogs } from "./stores/runs/other-redo-logs.ts";
import { RunRedoLog } from "./stores/runs/run-redo-log.ts";

/** Where a store keeps what it keeps, as in its options. */
interface StorePlaces {
  readonly file: string;
  readonly filesFolder?: string;
  readonly containersFolder?: string;
  readonly sync?: "normal" | "full";
  readonly usesRedoLog?: boolean;
}

export function isInMemory({ file }: Pick<StorePlaces, "file">): boolean {
  return file === ":memory:";
}

/** Beside the database, or a temporary one. */
export function folderOf(options: StorePlaces, kind: "containers" | "files"): string {
  if (isInMemory(options)) return join(tmpdir(), `antiphon-${kind}-${randomHex(32)}`);
  return options[`${kind}Folder`] ?? join(dirname(options.file), kind);
}

/** This process's redo log, and those of the others. */
export interface RedoLogs {
  readonly own: RunRedoLog;
  readonly others: OtherRedoLogs;
}

/** A commit that waits for the disk is not made durable by a log that does not. */
export function redoLogsOf(client: StoreClient, options: StorePlaces): RedoLogs | null {
  const { file, sync, usesRedoLog = true } = options;
  if (!usesRedoLog || sync === "full" || isInMemory(options)) return null;
  return { own: new RunRedoLog(file, client.own), others: new OtherRedoLogs(file, client.own, client) };
}
