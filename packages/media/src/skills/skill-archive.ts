import { bytesAtMost } from "@antiphon/base/limits/bytes-at-most.ts";
import {
  InvalidSkill,
  type OpenSkill,
  SKILL_LIMITS,
  type SkillBundle,
  type SkillFile,
} from "@antiphon/domain/skills/skills.ts";
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { readFrontMatter, type SkillHead } from "./front-matter.ts";

/** More of SKILL.md is not read for its front matter. */
const HEAD_BYTES_MAX = 64 * 1024;
const PATH_BYTES_MAX = 1024;
const PART_BYTES_MAX = 255;
/** Folders and leftovers of some packers are entries too. */
const ENTRIES_MAX = 4 * SKILL_LIMITS.filesMax;

const MANIFEST = "skill.md";
/** What macOS adds to archives. */
const LEFTOVER = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$)/;

/** The type of a file in the upper half of an entry's attributes, if a system like Unix packed it. */
const UNIX_TYPE = 0o170000;
const UNIX_FILE = 0o100000;
const ATTRIBUTES_SHIFT = 16;

type Limits = Readonly<Record<"filesMax" | "archiveBytesMax" | "fileBytesMax" | "unpackedBytesMax", number>>;

/** The zip archive of a skill. Opening checks its names and sizes. Its files are unpacked one at a time. */
export class SkillArchive implements OpenSkill {
  readonly head: SkillHead;
  /** SKILL.md, as it is written here. */
  readonly manifest: string;
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(
    zip: ZipFile,
    entries: ReadonlyMap<string, Entry>,
    { head, manifest }: Pick<SkillArchive, "head" | "manifest">,
  ) {
    this.#zip = zip;
    this.#entries = entries;
    this.head = head;
    this.manifest = manifest;
  }

  /** Rejects with `InvalidSkill`. */
  static async open(archive: Uint8Array, limits: Limits = SKILL_LIMITS): Promise<SkillArchive> {
    if (archive.length > limits.archiveBytesMax)
      throw new InvalidSkill(`The archive of a skill has at most ${limits.archiveBytesMax} bytes.`);
    const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
    const zip = await readable(fromBufferPromise(bytes, { lazyEntries: true, autoClose: false }));
    if (zip.entryCount > ENTRIES_MAX) throw tooManyFiles(limits);
    const files = await readable(Array.fromAsync(zip.eachEntry()));
    const { manifest, entries } = skillEntries(files.filter(isFile), limits);
    const entry = entries.get(manifest);
    const text = entry === undefined ? "" : await beginningOf(unpack(zip, entry));
    return new SkillArchive(zip, entries, { manifest, head: readFrontMatter(text) });
  }

  get files(): readonly SkillFile[] {
    return [...this.#entries].map(([path, { uncompressedSize: bytes }]) => ({ path, bytes }));
  }

  /** Yields the content of a file. Throws `InvalidSkill` if it cannot be unpacked or has another size than said. */
  async *read(path: string): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(path);
    if (entry !== undefined) yield* unpack(this.#zip, entry);
  }
}

/** Unpacks all files to check them. Rejects with `InvalidSkill`. */
export async function checkSkill(archive: Uint8Array, limits: Limits = SKILL_LIMITS): Promise<SkillBundle> {
  const skill = await SkillArchive.open(archive, limits);
  for (const { path } of skill.files) for await (const _piece of skill.read(path));
  return { ...skill.head, archive };
}

/** Whether an entry is a file of the skill. Throws `InvalidSkill` for links, devices and encrypted files. */
function isFile(entry: Entry): boolean {
  const { fileName: name } = entry;
  if (name.endsWith("/") || LEFTOVER.test(name)) return false;
  const type = (entry.externalFileAttributes >>> ATTRIBUTES_SHIFT) & UNIX_TYPE;
  if (type !== 0 && type !== UNIX_FILE)
    throw new InvalidSkill(`'${name}' is a link or a special file. A skill has only regular files.`);
  if (entry.isEncrypted()) throw new InvalidSkill(`'${name}' is encrypted.`);
  return true;
}

/** The files by their paths in the folder of SKILL.md, and SKILL.md. */
function skillEntries(
  files: readonly Entry[],
  limits: Limits,
): { readonly manifest: string; readonly entries: ReadonlyMap<string, Entry> } {
  if (files.length > limits.filesMax) throw tooManyFiles(limits);
  const manifests = files.filter(({ fileName }) => baseName(fileName).toLowerCase() === MANIFEST);
  const [manifest] = manifests;
  if (manifest === undefined || manifests.length > 1)
    throw new InvalidSkill(`A skill needs exactly one file named SKILL.md, but this one has ${manifests.length}.`);
  const folder = manifest.fileName.slice(0, -MANIFEST.length);
  if (folder.indexOf("/") !== folder.length - 1)
    throw new InvalidSkill(
      `'${manifest.fileName}' is in a subfolder. SKILL.md must be in the top folder of the skill.`,
    );
  const entries = new Map<string, Entry>();
  let bytes = 0;
  for (const entry of files) {
    const { fileName: name, uncompressedSize: size } = entry;
    if (!name.startsWith(folder)) throw new InvalidSkill(`'${name}' is not in the folder of SKILL.md, '${folder}'.`);
    const path = name.slice(folder.length);
    checkPath(path, name);
    if (entries.has(path)) throw new InvalidSkill(`There are two files '${name}'.`);
    if (size > limits.fileBytesMax)
      throw new InvalidSkill(`'${name}' is too large: a file of a skill has at most ${limits.fileBytesMax} bytes.`);
    bytes += size;
    entries.set(path, entry);
  }
  if (bytes > limits.unpackedBytesMax)
    throw new InvalidSkill(`The files of a skill have at most ${limits.unpackedBytesMax} bytes, unpacked.`);
  checkFolders(entries);
  return { manifest: baseName(manifest.fileName), entries };
}

/** The library has refused absolute paths and `..` before. */
function checkPath(path: string, name: string): void {
  const hasBadPart = path
    .split("/")
    .some((part) => ["", ".", ".."].includes(part) || byteLength(part) > PART_BYTES_MAX);
  // oxlint-disable-next-line no-control-regex -- They are what is refused.
  if (hasBadPart || byteLength(path) > PATH_BYTES_MAX || /[\u0000-\u001f\u007f]/.test(path) || !path.isWellFormed())
    throw new InvalidSkill(`'${name}' cannot be the name of a file of a skill.`);
}

/** No file may stand where another has a folder. */
function checkFolders(entries: ReadonlyMap<string, Entry>): void {
  for (const path of entries.keys())
    for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1))
      if (entries.has(path.slice(0, slash)))
        throw new InvalidSkill(`'${path.slice(0, slash)}' is a file and a folder.`);
}

/** The library checks that the content has the size of the directory. */
async function* unpack(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  const tooMany = (): Error => new Error("more bytes than its directory says");
  try {
    const content = await zip.openReadStreamPromise(entry);
    yield* bytesAtMost(bytesOf(content), entry.uncompressedSize, tooMany);
  } catch (error) {
    throw new InvalidSkill(`'${entry.fileName}' cannot be unpacked: ${reasonOf(error)}.`, { cause: error });
  }
}

async function* bytesOf(content: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) if (chunk instanceof Uint8Array) yield chunk;
}

async function beginningOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= HEAD_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, HEAD_BYTES_MAX).toString();
}

async function readable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new InvalidSkill(`The zip archive cannot be read: ${reasonOf(error)}.`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, "") : "unknown";
}

function tooManyFiles({ filesMax }: Limits): InvalidSkill {
  return new InvalidSkill(`A skill has at most ${filesMax} files.`);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
