import { lstat, readlink, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";

/** Programs and libraries, without places of whole applications, such as `/usr/src`. */
const PROGRAM_FOLDERS = [
  "/usr/bin",
  "/usr/lib",
  "/usr/lib32",
  "/usr/lib64",
  "/usr/libexec",
  "/usr/share",
  "/usr/local/bin",
  "/usr/local/lib",
  "/usr/local/share",
];
/** Files read by Debian's numpy and matplotlib, and by the library loader. None is secret. */
const SETTINGS = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/matplotlibrc", "/etc/fonts", "/etc/mime.types"];
/** Places of whole installations in folders of their own. */
const INSTALLATION_PLACES = ["/usr/local", "/opt"];
/** On most systems links into `/usr`, on others folders. */
const ROOT_FOLDERS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64"];

export interface SystemFolders {
  readonly readable: readonly string[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly hiddenPaths: readonly string[];
}

/**
 * The folders of this machine that programs need, and this Python, without those in `secret`, which are absolute paths.
 */
export async function findSystemFolders(secret: readonly string[], python: string): Promise<SystemFolders> {
  const entries = await Promise.all(ROOT_FOLDERS.map(linkOrFolder));
  const folders = entries.flatMap((entry) => (entry !== null && entry.target === null ? [entry.path] : []));
  const links = entries.flatMap((entry) =>
    entry !== null && entry.target !== null ? [{ path: entry.path, target: entry.target }] : [],
  );
  const own = installationsOf([python, await realpath(python).catch(() => python)]);
  const readable = [...PROGRAM_FOLDERS, ...SETTINGS, ...folders, ...own];
  const real = await Promise.all(secret.map((path) => realpath(path).catch(() => path)));
  const hiddenPaths = [...new Set([...secret, ...real])].filter((path) =>
    readable.some((folder) => isInside(path, folder)),
  );
  return { readable, links, hiddenPaths };
}

/**
 * The installation folders of these programs, such as `/usr/local/python3.13` for its `bin/python3`: a virtual
 * environment, and the Python that it was created from. Only folders below places for installations count, so that no
 * program exposes a home folder.
 */
export function installationsOf(programs: readonly string[]): readonly string[] {
  const prefixes = programs.map((program) => dirname(dirname(program)));
  const isOwn = (prefix: string): boolean =>
    INSTALLATION_PLACES.some((place) => prefix !== place && isInside(prefix, place)) &&
    !PROGRAM_FOLDERS.some((folder) => isInside(prefix, folder));
  return [...new Set(prefixes.filter(isOwn))];
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

async function linkOrFolder(path: string): Promise<{ readonly path: string; readonly target: string | null } | null> {
  try {
    const status = await lstat(path);
    return { path, target: status.isSymbolicLink() ? await readlink(path) : null };
  } catch (error) {
    if (isRecord(error) && error["code"] === "ENOENT") return null;
    throw error;
  }
}
