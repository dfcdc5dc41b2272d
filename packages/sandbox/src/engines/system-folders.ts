import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
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

/** What a Python elsewhere has in its folder. The rest of that folder may be a home. */
const INSTALLATION_PARTS = ["bin", "lib", "lib64", "pyvenv.cfg"];

export interface SystemFolders {
  readonly readable: readonly string[];
  /** Absolute paths of a Python that is neither the system's nor in a place of installations. All exist. */
  readonly installed: readonly string[];
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
  const pythons = [python, await realpath(python).catch(() => python)];
  const own = installationsOf(pythons);
  const readable = [...PROGRAM_FOLDERS, ...SETTINGS, ...folders, ...own];
  const real = await Promise.all(secret.map((path) => realpath(path).catch(() => path)));
  const hiddenPaths = [...new Set([...secret, ...real])].filter((path) =>
    readable.some((folder) => isInside(path, folder)),
  );
  const parts = await Promise.all(partsElsewhere(pythons).map(linkOrFolder));
  const installed = parts.flatMap((part) => (part === null ? [] : [part.path]));
  return {
    readable,
    links,
    hiddenPaths,
    installed: installed.filter((part) => !real.some((path) => isInside(path, part))),
  };
}

/**
 * The installation folders of these programs, such as `/usr/local/python3.13` for its `bin/python3`: a virtual
 * environment, and the Python that it was created from. Only folders below places for installations count, since
 * another one may be a home.
 */
export function installationsOf(programs: readonly string[]): readonly string[] {
  const prefixes = programs.map((program) => dirname(dirname(program)));
  const isOwn = (prefix: string): boolean =>
    INSTALLATION_PLACES.some((place) => prefix !== place && isInside(prefix, place)) &&
    !PROGRAM_FOLDERS.some((folder) => isInside(prefix, folder));
  return [...new Set(prefixes.filter(isOwn))];
}

/** The parts of Pythons in other folders: programs and libraries alone. */
export function partsElsewhere(programs: readonly string[]): readonly string[] {
  const ordinaryFolders = [...PROGRAM_FOLDERS, ...ROOT_FOLDERS, ...installationsOf(programs)];
  const folders = programs.map(dirname).filter((folder) => !ordinaryFolders.some((place) => isInside(folder, place)));
  const prefixes = folders.filter((folder) => basename(folder) === "bin").map(dirname);
  return [...new Set(prefixes)].flatMap((prefix) => INSTALLATION_PARTS.map((part) => join(prefix, part)));
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
