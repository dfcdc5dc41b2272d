import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

const OWNER_ONLY_FOLDER = 0o700;

/** A folder that does not exist and cannot be created, for a reason that the operator can fix. */
export class UnusableFolder extends Error {
  override readonly name = "UnusableFolder";

  constructor(path: string, why: string, options?: ErrorOptions) {
    super(`Cannot use ${resolve(path)}: ${why}.`, options);
  }
}

/**
 * Creates a folder that only its owner may enter, and the folders above it. Throws `UnusableFolder`, or the system's
 * error. Node's own recursive `mkdir` never returns for folders below `/proc`.
 */
export function makeFolder(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return;
  if (stats !== undefined) throw new UnusableFolder(path, "it is a file, not a folder");
  const parent = dirname(path);
  const hasParent = statSync(parent, { throwIfNoEntry: false }) !== undefined;
  if (!hasParent && parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: OWNER_ONLY_FOLDER });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EEXIST" && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
    if (code === "EEXIST") throw new UnusableFolder(path, "it is a link to nothing", { cause: error });
    if (code !== "ENOENT") throw error;
    throw new UnusableFolder(path, `no folder can be made in ${resolve(parent)}`, { cause: error });
  }
}
