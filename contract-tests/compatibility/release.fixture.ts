import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";

/** The last release before a working copy, or the reason why none is known. */
export type Release = { readonly tag: string } | { readonly tag: null; readonly reason: string };

const RELEASE_TAG = /^v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Finds the highest version tag among the ancestors of the commit that is checked out. */
export function findRelease(root: string): Release {
  const top = askGit(root, "rev-parse", "--show-toplevel");
  if (top === null || realpathSync(top.trim()) !== realpathSync(root))
    return { tag: null, reason: "this is not a git checkout" };
  const tags = askGit(root, "-c", "versionsort.suffix=-", "tag", "--merged", "HEAD", "--sort=-version:refname");
  const tag = tags?.split("\n").find((name) => RELEASE_TAG.test(name));
  return tag === undefined ? { tag: null, reason: "no release is tagged yet" } : { tag };
}

/** The files of a folder in a release: text by path relative to the folder. */
export function filesOfRelease(root: string, tag: string, folder: string): Map<string, string> {
  const paths = askGit(root, "ls-tree", "-r", "-z", "--name-only", tag, "--", `${folder}/`)?.split("\0") ?? [];
  return new Map(
    paths
      .filter((path) => path !== "")
      .map((path) => [path.slice(folder.length + 1), askGit(root, "show", `${tag}:${path}`) ?? ""]),
  );
}

/**
 * The output of git, or null if it fails or is not installed. Drops git's variables, because those set by a hook would
 * point it to another repository.
 */
function askGit(root: string, ...command: readonly string[]): string | null {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
  try {
    return execFileSync("git", ["-C", root, ...command], {
      encoding: "utf8",
      env,
      maxBuffer: OUTPUT_BYTES_MAX,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return null;
  }
}
