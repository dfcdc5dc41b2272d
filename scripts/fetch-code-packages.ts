import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Packages of Pyodide's project by name, with the checksum of each file. It comes with Pyodide from npm. */
export interface PyodideLock {
  readonly packages: Readonly<Record<string, PyodidePackage>>;
}

export interface PyodidePackage {
  readonly file_name: string;
  readonly sha256: string;
  readonly depends: readonly string[];
}

export interface CodePackages {
  readonly lock: PyodideLock;
  readonly names: readonly string[];
  /** Address of the folder with the files; ends with a slash. */
  readonly from: string;
  readonly folder: string;
}

export async function readPyodideLock(): Promise<PyodideLock> {
  const path = createRequire(import.meta.url).resolve("pyodide/pyodide-lock.json");
  const lock: PyodideLock = JSON.parse(await readFile(path, "utf8"));
  return lock;
}

/** Fetches packages and all that they need; stores no file whose checksum is wrong. Resolves to the names. */
export async function fetchCodePackages({ lock, names, from, folder }: CodePackages): Promise<readonly string[]> {
  const needed = withDependencies(lock, names);
  await mkdir(folder, { recursive: true });
  for (const name of needed) await fetchPackage(packageOf(lock, name), from, folder);
  return needed;
}

async function fetchPackage({ file_name: file, sha256 }: PyodidePackage, from: string, folder: string): Promise<void> {
  const reply = await fetch(new URL(file, from));
  if (!reply.ok) throw new Error(`${from}${file} answers with status ${reply.status}`);
  const bytes = Buffer.from(await reply.arrayBuffer());
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest !== sha256) throw new Error(`${from}${file} is not the file that this version of Pyodide needs`);
  const part = join(folder, `${file}.part`);
  await writeFile(part, bytes);
  await rename(part, join(folder, file));
}

function withDependencies(lock: PyodideLock, names: readonly string[]): readonly string[] {
  const needed = new Set<string>();
  const queue = names.map((name) => name.toLowerCase());
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (needed.has(name)) continue;
    needed.add(name);
    queue.push(...packageOf(lock, name).depends);
  }
  return [...needed].toSorted((one, other) => one.localeCompare(other));
}

function packageOf(lock: PyodideLock, name: string): PyodidePackage {
  const found = lock.packages[name];
  if (found === undefined) throw new Error(`Pyodide's project has no package ${name}`);
  return found;
}
