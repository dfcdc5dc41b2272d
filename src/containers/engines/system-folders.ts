import { lstat, readlink, realpath } from "node:fs/promises";
import { isRecord } from "../../base/json/records.ts";

/** Programs and libraries, but not the places where people install whole applications, such as `/usr/src`. */
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
/** What Debian's numpy and matplotlib read, and what finds libraries. None of it is secret. */
const SETTINGS = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/matplotlibrc", "/etc/fonts", "/etc/mime.types"];
/** On most systems links into `/usr`, on others folders. */
const ROOT_FOLDERS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64"];

export interface SystemFolders {
  readonly readable: readonly string[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly hidden: readonly string[];
}

/** The folders of this machine that programs need, without those of `secret`, which are absolute paths. */
export async function findSystemFolders(secret: readonly string[]): Promise<SystemFolders> {
  const found = await Promise.all(ROOT_FOLDERS.map(linkOrFolder));
  const folders = found.flatMap((entry) => (entry !== null && entry.target === null ? [entry.path] : []));
  const links = found.flatMap((entry) =>
    entry !== null && entry.target !== null ? [{ path: entry.path, target: entry.target }] : [],
  );
  const readable = [...PROGRAM_FOLDERS, ...SETTINGS, ...folders];
  const real = await Promise.all(secret.map((path) => realpath(path).catch(() => path)));
  const hidden = [...new Set([...secret, ...real])].filter((path) => readable.some((folder) => isInside(path, folder)));
  return { readable, links, hidden };
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
