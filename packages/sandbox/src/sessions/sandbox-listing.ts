import type { SandboxFile } from "../ports/sandbox-engine.ts";

/** The path of a container's files for its code. */
export const SANDBOX_FOLDER = "/mnt/data/";

const PATH_BYTES_MAX = 1024;
const NAME_BYTES_MAX = 255;
const SENTENCES_MAX = 10;

/** Sentences about files. Beyond a number, they are only counted. */
export class FileFaults {
  readonly #sentences: string[] = [];
  #more = 0;

  add(sentence: string): void {
    if (this.#sentences.length < SENTENCES_MAX) this.#sentences.push(sentence);
    else this.#more += 1;
  }

  get sentences(): readonly string[] {
    if (this.#more === 0) return this.#sentences;
    return [...this.#sentences, `The same holds for ${this.#more} more ${this.#more === 1 ? "file" : "files"}.`];
  }
}

/** The files reported by a sandbox, by path. The report is untrusted. */
export function readListing(listing: readonly SandboxFile[], faults: FileFaults): ReadonlyMap<string, SandboxFile> {
  const files = new Map<string, SandboxFile>();
  for (const file of listing) {
    if (isStorablePath(file.path)) files.set(file.path, file);
    else faults.add(`${shownPath(file.path)} was not kept: its name cannot be stored.`);
  }
  return files;
}

/**
 * Whether a path, relative to `/mnt/data`, can be stored: names separated by single slashes, in well-formed text
 * without control characters, and none that leads out of the folder.
 */
function isStorablePath(path: string): boolean {
  if (!path.isWellFormed() || /\p{Cc}/u.test(path) || Buffer.byteLength(path) > PATH_BYTES_MAX) return false;
  return path.split("/").every((name) => !["", ".", ".."].includes(name) && Buffer.byteLength(name) <= NAME_BYTES_MAX);
}

/** A path for a sentence: one short line. */
export function shownPath(path: string): string {
  const line = path.toWellFormed().replace(/\p{Cc}/gu, "?");
  return SANDBOX_FOLDER + (line.length > NAME_BYTES_MAX ? `${line.slice(0, NAME_BYTES_MAX)}…` : line);
}
