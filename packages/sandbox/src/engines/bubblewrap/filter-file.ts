import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { openNamelessFile } from "@antiphon/base/files/nameless-file.ts";
import { systemCallFilter } from "./system-call-filter.ts";

/** The descriptor that `startPiped` uses for a file. */
export const FILTER_DESCRIPTOR = 5;

/** A nameless file with this machine's system call filter, positioned at its start; null if there is none. */
export async function openFilterFile(): Promise<FileHandle | null> {
  const filter = systemCallFilter(process.arch);
  if (filter === null) return null;
  const file = await openNamelessFile(tmpdir());
  await file.write(filter, 0, filter.length, 0);
  return file;
}
