import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { linkInstalled } from "./link-installed.ts";

const THIS_TREE = join(import.meta.dirname, "..");

/** Puts the files of a commit into an empty folder, with the packages that it needs. */
export function checkOut(commit: string, folder: string): void {
  const archive = git("archive", "--format=tar", commit);
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  if (lockOf(folder) === lockOf(THIS_TREE)) linkInstalled(folder);
  else execFileSync("npm", ["ci", "--loglevel=error", "--no-progress"], { cwd: folder, stdio: "inherit" });
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
