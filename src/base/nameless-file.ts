import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { randomHex } from "./ids.ts";

/** Linux makes a file without a name in a folder if this is asked for beside O_DIRECTORY. Node has no word for it. */
const O_NAMELESS = 0o20000000;
const OWNER_ONLY = 0o600;

const PASSING_NAME = "upload-";

/**
 * Whether a file bears the name that it has for a moment; one that still has it was left by a process that was killed
 * then.
 */
export function isPassingName(name: string): boolean {
  return name.startsWith(PASSING_NAME);
}

/**
 * A file in this folder that has no name, so that nothing of it outlives the process. Where the file system cannot make
 * one, it has a name until it is open. To be closed by the caller.
 */
export async function openNamelessFile(folder: string): Promise<FileHandle> {
  if (process.platform === "linux") {
    try {
      return await open(folder, O_NAMELESS | constants.O_DIRECTORY | constants.O_RDWR, OWNER_ONLY);
    } catch (error) {
      if (!isUnknownFlag(error)) throw error;
    }
  }
  const path = join(folder, `${PASSING_NAME}${randomHex(32)}`);
  const handle = await open(path, "wx+", OWNER_ONLY);
  await unlink(path);
  return handle;
}

/** What kernels and file systems say that do not know the flag. */
function isUnknownFlag(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return code === "EOPNOTSUPP" || code === "ENOTSUP" || code === "EISDIR" || code === "EINVAL";
}

/** Writes all of these bytes at the end. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    const { bytesWritten } = await handle.write(rest);
    rest = rest.subarray(bytesWritten);
  }
}
