import type { PyodideAPI } from "pyodide";

/** The folder of the session's files. */
export const FOLDER = "/mnt/data";
/** Emscripten's number for "no space left on device". */
const NO_SPACE = 51;
const READ_BYTES_MAX = 256 * 1024;
/** The maximum depth of the search for files. */
const DEPTH_MAX = 32;

type FileSystem = PyodideAPI["FS"];

/** Path below `FOLDER`, bytes, and a version that changes with the file. */
export type FileEntry = readonly [path: string, bytes: number, version: string];

/** The files of a session, in memory. Methods throw errors with explanations. */
export class MemoryFiles {
  readonly #fs: FileSystem;

  constructor(fs: FileSystem) {
    this.#fs = fs;
    fs.mkdirTree(FOLDER);
    fs.chdir(FOLDER);
  }

  /** Writes a piece of a file. Offset 0 starts a new file and replaces the old one. */
  write(path: string, offset: number, bytes: Uint8Array): void {
    const whole = `${FOLDER}/${path}`;
    if (offset === 0) this.#makeRoom(whole);
    const stream = this.#fs.open(whole, offset === 0 ? "w" : "r+");
    try {
      this.#fs.write(stream, bytes, 0, bytes.length, offset);
    } finally {
      this.#fs.close(stream);
    }
  }

  remove(path: string): void {
    const whole = `${FOLDER}/${path}`;
    if (this.#kindOf(whole) !== null) this.#fs.unlink(whole);
  }

  /** At most `most` bytes from an offset; empty at the end of the file. */
  read(path: string, offset: number, most: number): Uint8Array {
    const whole = `${FOLDER}/${path}`;
    if (this.#kindOf(whole) !== "file") throw new Error("There is no such file.");
    const stream = this.#fs.open(whole, "r");
    try {
      const bytes = new Uint8Array(Math.min(most, READ_BYTES_MAX));
      return bytes.subarray(0, this.#fs.read(stream, bytes, 0, bytes.length, offset));
    } finally {
      this.#fs.close(stream);
    }
  }

  /** Regular files only, at most `most`. */
  list(most: number): FileEntry[] {
    const entries: FileEntry[] = [];
    this.#listBelow("", DEPTH_MAX, (entry) => entries.push(entry) < most);
    return entries;
  }

  #listBelow(folder: string, depth: number, take: (entry: FileEntry) => boolean): boolean {
    for (const name of this.#fs.readdir(`${FOLDER}/${folder}`)) {
      if (name === "." || name === "..") continue;
      const path = folder + name;
      const kind = this.#kindOf(`${FOLDER}/${path}`);
      if (kind === "file" && !take(this.#entry(path))) return false;
      if (kind === "folder" && depth > 0 && !this.#listBelow(`${path}/`, depth - 1, take)) return false;
    }
    return true;
  }

  #entry(path: string): FileEntry {
    const { size, mtime, ino } = this.#fs.lstat(`${FOLDER}/${path}`);
    return [path, size, `${Number(mtime)}-${size}-${ino}`];
  }

  #kindOf(path: string): "file" | "folder" | "other" | null {
    if (!this.#fs.analyzePath(path, true).exists) return null;
    const { mode } = this.#fs.lstat(path);
    if (this.#fs.isFile(mode)) return "file";
    return this.#fs.isDir(mode) ? "folder" : "other";
  }

  #makeRoom(path: string): void {
    this.#fs.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    const kind = this.#kindOf(path);
    if (kind === "folder") throw new Error("There is a folder of that name.");
    if (kind !== null) this.#fs.unlink(path); // Never through a symbolic link.
  }
}

interface Contents {
  contents?: { readonly length: number } | null;
}

/** Limits the bytes of files in all folders together; beyond it, writes fail as on a full disk. */
export function limitFiles(fs: FileSystem, bytesMax: number): void {
  const memory: MemoryFileSystem = Reflect.get(fs.filesystems, "MEMFS");
  let usedBytes = 0;
  for (const name of ["expandFileStorage", "resizeFileStorage"] as const) {
    const change = memory[name];
    memory[name] = (node, bytes) => {
      const before = node.contents?.length ?? 0;
      if (bytes > before && usedBytes + bytes - before > bytesMax) usedBytes = bytesBelow(fs, "/", DEPTH_MAX);
      if (bytes > before && usedBytes + bytes - before > bytesMax) throw new fs.ErrnoError(NO_SPACE);
      Reflect.apply(change, memory, [node, bytes]);
      usedBytes += (node.contents?.length ?? 0) - before;
    };
  }
}

interface MemoryFileSystem {
  expandFileStorage(node: Contents, bytes: number): void;
  resizeFileStorage(node: Contents, bytes: number): void;
}

function bytesBelow(fs: FileSystem, folder: string, depth: number): number {
  let bytes = 0;
  for (const name of depth > 0 ? fs.readdir(folder) : []) {
    if (name === "." || name === "..") continue;
    const path = `${folder}${name}`;
    const { mode, size } = fs.lstat(path);
    if (fs.isFile(mode)) bytes += size;
    if (fs.isDir(mode) && !["/dev", "/proc"].includes(path)) bytes += bytesBelow(fs, `${path}/`, depth - 1);
  }
  return bytes;
}
