import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** First a folder in memory, if there is one, so that private sound never reaches a disk. */
const FOLDERS = ["/dev/shm", tmpdir()];
const PREFIX = "antiphon-sound-";

/**
 * Writes bytes to a file without a name, so that no other user can open it and nothing remains when the process ends.
 * The caller must close it.
 */
export async function openUnnamedFile(bytes: () => AsyncIterable<Uint8Array>): Promise<FileHandle> {
  let fault: unknown = new Error("there is no folder for temporary files");
  for (const folder of FOLDERS) {
    try {
      return await writeUnnamed(folder, bytes());
    } catch (error) {
      fault = error; // The folder is missing or full; the next one may work.
    }
  }
  throw fault;
}

async function writeUnnamed(folder: string, bytes: AsyncIterable<Uint8Array>): Promise<FileHandle> {
  const place = await mkdtemp(join(folder, `${PREFIX}${process.pid}-`)); // Of mode 700.
  try {
    const handle = await open(join(place, "recording"), "wx+", 0o600);
    try {
      await rm(place, { recursive: true }); // Before the first byte of sound is written.
      await handle.writeFile(bytes);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
