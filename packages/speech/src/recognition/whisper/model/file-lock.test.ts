import { readdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../../tests/kit/temporary-folder.ts";
import { withFileLock } from "./file-lock.ts";

const never = new AbortController().signal;

async function lockPath(): Promise<string> {
  const folder = temporaryFolder();
  return join(folder, "work.lock");
}

test("the work of one caller runs at a time, and each caller gets its own result", async () => {
  const path = await lockPath();
  let working = 0;
  const most: number[] = [];
  const work = async (result: number): Promise<number> => {
    most.push((working += 1));
    await sleep(20);
    working -= 1;
    return result;
  };
  expect(await Promise.all([1, 2, 3].map((result) => withFileLock(path, never, () => work(result))))).toEqual([
    1, 2, 3,
  ]);
  expect(most).toEqual([1, 1, 1]);
});

test("the lock is released when the work fails", async () => {
  const path = await lockPath();
  await expect(withFileLock(path, never, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await withFileLock(path, never, () => Promise.resolve("done"))).toBe("done");
  expect(await readdir(join(path, ".."))).toEqual([]);
});

test("one of the waiting callers takes over the lock of a dead process", async () => {
  const path = await lockPath();
  await writeFile(path, "somebody else");
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(path, longAgo, longAgo);
  let working = 0;
  const work = async (): Promise<number> => {
    const together = (working += 1);
    await sleep(50);
    working -= 1;
    return together;
  };
  expect(await Promise.all([1, 2, 3].map(() => withFileLock(path, never, work)))).toEqual([1, 1, 1]);
});

test("the holder keeps touching its lock", async () => {
  const path = await lockPath();
  await withFileLock(path, never, async () => {
    const { mtimeMs } = await stat(path);
    await expect.poll(async () => (await stat(path)).mtimeMs).toBeGreaterThan(mtimeMs);
  });
});

test("waiting ends when the signal aborts", async () => {
  const path = await lockPath();
  await writeFile(path, "somebody else");
  const leaving = new AbortController();
  const waiting = withFileLock(path, leaving.signal, () => Promise.resolve("never"));
  leaving.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
});
