import { execFile } from "node:child_process";
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
const MODULES = join(ROOT, "node_modules");

/** Time to compile and pack on a busy machine. */
export const PACK_TIMEOUT_MS = 240_000;

/** The tarball of the server, as `npm pack` makes it, compiled in a new folder: tests do not disturb each other. */
export async function packServer(folder: string): Promise<string> {
  const staged = join(folder, "staged");
  await run(process.execPath, [join(ROOT, "scripts/build-package.ts"), staged], { cwd: ROOT });
  return packFolder(staged, folder);
}

/** The tarball of the client. */
export async function packClient(folder: string): Promise<string> {
  const staged = join(folder, "staged-client");
  const isKept = (path: string): boolean => !path.endsWith("/dist");
  await cp(join(ROOT, "packages/client"), staged, { recursive: true, filter: isKept });
  await run(process.execPath, ["scripts/build-client.ts", join(staged, "dist")], { cwd: ROOT });
  return packFolder(staged, folder);
}

async function packFolder(source: string, folder: string): Promise<string> {
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
    cwd: source,
  });
  return join(folder, stdout.trim().split("\n").at(-1) ?? "");
}

/** Unpacks a tarball as the package `name` of a project, as npm would. */
export async function unpack(tarball: string, project: string, name: string): Promise<string> {
  const installed = join(project, "node_modules", name);
  await mkdir(installed, { recursive: true });
  await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  return installed;
}

/** Links packages of this clone into a project: npm could not fetch them without a network. */
export async function linkPackages(project: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const link = join(project, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(MODULES, name), link);
  }
}

/** The files of a folder, relative to it. */
export async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}
