import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanUp, removeFolder } from "./clean-up.ts";
import { THIS_TREE } from "./servers.ts";

/** The commit before storage left the event loop. */
const BASE_COMMIT = "fe8b6c2";

export interface Checkout {
  readonly root: string;
  /** The commit, short. */
  readonly name: string;
  remove(): void;
}

/** Puts the commit to compare with, which `BENCH_BASE` chooses, into a temporary folder; null if it is `none`. */
export function checkOutBase(): Checkout | null {
  const commit = process.env["BENCH_BASE"] ?? BASE_COMMIT;
  if (commit === "none") return null;
  const root = mkdtempSync(join(tmpdir(), "antiphon-base-"));
  const remove = cleanUp(() => removeFolder(root));
  const archive = git("archive", "--format=tar", commit);
  execFileSync("tar", ["-x", "-C", root], { input: archive });
  if (lockOf(root) === lockOf(THIS_TREE)) symlinkSync(join(THIS_TREE, "node_modules"), join(root, "node_modules"));
  else execFileSync("npm", ["ci", "--loglevel=error", "--no-progress"], { cwd: root, stdio: "inherit" });
  return { root, name: commit, remove };
}

/** The commit of this checkout, marked if files differ from it. */
export function nameOfThisTree(): string {
  return git("describe", "--always", "--dirty", "--abbrev=7").toString().trim();
}

function git(...call: readonly string[]): Buffer {
  return execFileSync("git", ["-C", THIS_TREE, ...call], { maxBuffer: Number.POSITIVE_INFINITY });
}

function lockOf(root: string): string {
  return readFileSync(join(root, "package-lock.json"), "utf8");
}
