import { randomUUID } from "node:crypto";
import { open, readFile, rm, stat, utimes } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "@antiphon/base/json/records.ts";

const HEARTBEAT_MS = 2000;
/** A lock that was not touched for this long belongs to a dead process. */
const STALE_MS = 30_000;
const POLL_MS = 200;

/**
 * Runs `work` while holding a lock file that one process can hold at a time, and waits for the lock first. The holder
 * touches the file regularly, so that a dead holder's lock can be removed. Rejects with the signal's reason if that
 * aborts during the wait.
 */
export async function withFileLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const token = randomUUID();
  while (!(await take(path, token))) {
    await removeStale(path);
    await sleep(POLL_MS, undefined, { signal });
  }
  const heartbeat = setInterval(() => void touch(path), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await release(path, token);
  }
}

async function take(path: string, token: string): Promise<boolean> {
  try {
    await using file = await open(path, "wx", 0o600);
    await file.writeFile(token);
    return true;
  } catch (error) {
    if (isRecord(error) && error["code"] === "EEXIST") return false;
    throw error;
  }
}

/** Removes the lock under a second lock, after another check: meanwhile a live process may have taken the first one. */
async function removeStale(path: string): Promise<void> {
  if (!(await isStale(path))) return;
  const breaker = `${path}.break`;
  if (!(await take(breaker, ""))) {
    if (await isStale(breaker)) await rm(breaker, { force: true });
    return;
  }
  try {
    if (await isStale(path)) await rm(path, { force: true });
  } finally {
    await rm(breaker, { force: true });
  }
}

function isStale(path: string): Promise<boolean> {
  return stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > STALE_MS,
    () => false,
  );
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => {});
}

async function release(path: string, token: string): Promise<void> {
  const holder = await readFile(path, "utf8").catch(() => null);
  if (holder === token) await rm(path, { force: true });
}
