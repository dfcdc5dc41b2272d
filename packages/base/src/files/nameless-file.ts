import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { randomHex } from "../ids.ts";

/** With O_DIRECTORY this is Linux's O_TMPFILE, which creates a file without a name. Node has no constant for it. */
const O_NAMELESS = 0o20000000;
const OWNER_ONLY = 0o600;

const PASSING_NAME = "upload-";

/**
 * Whether this is the name of a file that has a name only until it is open. A file that still has it was left by a
 * killed process.
 */
export function isPassingName(name: string): boolean {
  return name.startsWith(PASSING_NAME);
}

/**
 * Opens a file without a name in this folder, so that it cannot outlive the process. If the file system does not
 * support that, the file has a name until it is open. The caller closes it.
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

/** The errors of kernels and file systems that do not know the flag. */
function isUnknownFlag(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return code === "EOPNOTSUPP" || code === "ENOTSUP" || code === "EISDIR" || code === "EINVAL";
}

/** Appends all of these bytes. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    const { bytesWritten } = await handle.write(rest);
    rest = rest.subarray(bytesWritten);
  }
}
