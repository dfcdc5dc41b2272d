import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const BRANCH = /^ref: (refs\/(?:[\w-][\w.-]*\/)*[\w-][\w.-]*)$/;

/**
 * The checked-out commit, or null if the program does not run in a clone. Reads git's files itself, because git may not
 * be installed.
 */
export function sourceCommit(folder = ROOT): string | null {
  const head = readLine(join(folder, ".git/HEAD"));
  if (head === null || COMMIT.test(head)) return head;
  const branch = BRANCH.exec(head)?.[1];
  if (branch === undefined) return null;
  const commit = readLine(join(folder, ".git", branch)) ?? readPackedRef(join(folder, ".git/packed-refs"), branch);
  return commit !== null && COMMIT.test(commit) ? commit : null;
}

function readPackedRef(path: string, branch: string): string | null {
  const line = readIfPresent(path)
    ?.split("\n")
    .find((entry) => entry.endsWith(` ${branch}`));
  return line?.split(" ")[0] ?? null;
}

function readLine(path: string): string | null {
  return readIfPresent(path)?.trim() ?? null;
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
