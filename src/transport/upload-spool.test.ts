import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ByteBudget } from "../base/byte-budget.ts";
import { UploadSpool } from "./upload-spool.ts";

const OPEN_FILES = "/proc/self/fd";

/** Those in this folder that this process holds, the ones without a name included. */
async function openFilesIn(folder: string): Promise<readonly string[]> {
  const paths = await Promise.all(
    (await readdir(OPEN_FILES)).map((file) => readlink(join(OPEN_FILES, file)).catch(() => "")),
  );
  return paths.filter((path) => path.startsWith(folder));
}

/** For a second at most, so that a spool that goes on writing is found out. */
async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < 200; piece++) {
    yield Buffer.alloc(1024);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test.skipIf(process.platform !== "linux").each([0, 1, 2, 5])(
  "a spool that is released while a file comes in leaves nothing open, after %d ms",
  async (ms) => {
    const folder = await mkdtemp(join(tmpdir(), "spool-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const spool = new UploadSpool(folder, new ByteBudget(0).open());
    const kept = spool.keep(pieces());
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    await Promise.all([spool.release(), expect(kept).rejects.toThrow(/nobody waits|file closed|EBADF/)]);
    expect(await openFilesIn(folder)).toEqual([]);
    expect(await readdir(folder).catch(() => [])).toEqual([]);
  },
);
