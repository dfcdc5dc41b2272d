import { existsSync, realpathSync } from "node:fs";
import { isAbsolute } from "node:path";

/** The files of one release of this program: Node and the program. */
export interface ReleaseFiles {
  readonly node: string;
  readonly main: string;
}

/** The files that this process runs, with links resolved at its start. */
const RUNNING: ReleaseFiles = { node: process.execPath, main: realPath(mainAsCalled()) ?? mainAsCalled() };

/** The release that this process runs. */
export function runningRelease(): ReleaseFiles {
  return RUNNING;
}

/** The current targets of the paths that started this process. A link may lead to another release by now. */
export function currentRelease(): ReleaseFiles {
  const isPath = isAbsolute(process.argv0) && existsSync(process.argv0);
  return { node: isPath ? process.argv0 : RUNNING.node, main: mainAsCalled() };
}

/** Whether the current release is not the running one. */
export function isSuperseded(): boolean {
  const current = realPath(mainAsCalled());
  return current !== null && current !== RUNNING.main;
}

function mainAsCalled(): string {
  return process.argv[1] ?? "";
}

/** Null if the path does not exist. */
function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
