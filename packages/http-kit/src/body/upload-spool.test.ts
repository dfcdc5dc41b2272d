import { watch } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { ByteBudget } from "@antiphon/base/limits/byte-budget.ts";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../tests/kit/temporary-folder.ts";
import { verifies } from "../../../../tests/verifies.ts";
import { UploadSpool } from "./upload-spool.ts";

const OPEN_FILES = "/proc/self/fd";

/** Files in this folder that this process has open, including those without a name. */
async function openFilesIn(folder: string): Promise<readonly string[]> {
  const paths = await Promise.all(
    (await readdir(OPEN_FILES)).map((file) => readlink(join(OPEN_FILES, file)).catch(() => "")),
  );
  return paths.filter((path) => path.startsWith(folder));
}

/** Lasts a second at most, so that a spool that keeps writing after its release fails the test. */
async function* pieces(count = 200): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < count; piece++) {
    yield Buffer.alloc(1024);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test.skipIf(process.platform !== "linux").each([0, 1, 2, 5])(
  "a spool released %d ms into an upload leaves no file open",
  async (ms) => {
    const folder = temporaryFolder();
    const spool = new UploadSpool(folder, new ByteBudget(0).open());
    const kept = spool.keep(pieces());
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    await Promise.all([spool.release(), expect(kept).rejects.toThrow(/was released|file closed|EBADF/)]);
    expect(await openFilesIn(folder)).toEqual([]);
    expect(await readdir(folder).catch(() => [])).toEqual([]);
  },
);

test.skipIf(process.platform !== "linux")(
  "a spooled file never has a name that a kill could leave behind",
  async () => {
    verifies("files.upload.nothing-is-left-by-a-kill");
    const folder = temporaryFolder();
    const named: unknown[] = [];
    const watcher = watch(folder, (_event, name) => named.push(name));
    onTestFinished(() => watcher.close());
    const spool = new UploadSpool(folder, new ByteBudget(0).open());
    for (let file = 0; file < 20; file++) {
      const kept = await spool.keep(pieces(2));
      expect((await Array.fromAsync(kept.read())).length).toBeGreaterThan(0);
    }
    await spool.release();
    const names = named.filter((name) => !String(name).startsWith("#")); // Linux names such files "#" and a number.
    expect([names, await readdir(folder)]).toEqual([[], []]);
  },
);
