import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";

/** The release that a working copy comes from, or why none is known. */
export type Release = { readonly tag: string } | { readonly tag: null; readonly reason: string };

const RELEASE_TAG = /^v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** The highest version among the tags behind what is checked out. */
export function findRelease(root: string): Release {
  const top = askGit(root, "rev-parse", "--show-toplevel");
  if (top === null || realpathSync(top.trim()) !== realpathSync(root))
    return { tag: null, reason: "this is no checkout of git" };
  const tags = askGit(root, "-c", "versionsort.suffix=-", "tag", "--merged", "HEAD", "--sort=-version:refname");
  const tag = tags?.split("\n").find((name) => RELEASE_TAG.test(name));
  return tag === undefined ? { tag: null, reason: "there is no tag of a release yet" } : { tag };
}

/** The texts below a folder as a release has them, by their paths in it. */
export function filesOfRelease(root: string, tag: string, folder: string): Map<string, string> {
  const paths = askGit(root, "ls-tree", "-r", "-z", "--name-only", tag, "--", `${folder}/`)?.split("\0") ?? [];
  return new Map(
    paths
      .filter((path) => path !== "")
      .map((path) => [path.slice(folder.length + 1), askGit(root, "show", `${tag}:${path}`) ?? ""]),
  );
}

/** What git says; null if it fails or is not there. Variables that a hook sets would make it look elsewhere. */
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
