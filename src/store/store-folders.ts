import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { randomHex } from "@antiphon/base/ids.ts";

/** Where a store keeps what it keeps, as in its options. */
interface StorePlaces {
  readonly file: string;
  readonly filesFolder?: string;
  readonly containersFolder?: string;
}

export function isInMemory({ file }: Pick<StorePlaces, "file">): boolean {
  return file === ":memory:";
}

/** Beside the database, or a temporary one. */
export function folderOf(options: StorePlaces, kind: "containers" | "files"): string {
  if (isInMemory(options)) return join(tmpdir(), `antiphon-${kind}-${randomHex(32)}`);
  return options[`${kind}Folder`] ?? join(dirname(options.file), kind);
}
