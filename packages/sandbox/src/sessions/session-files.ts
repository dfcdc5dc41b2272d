import { bytesAtMost } from "@antiphon/base/limits/bytes-at-most.ts";
import { mapSomeAtOnce } from "@antiphon/base/limits/map-some-at-once.ts";
import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { FileChanges, KeptFile } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { FileRefused, type Sandbox, type SandboxFile } from "../ports/sandbox-engine.ts";
import { type StoredContainers } from "../ports/stored-containers.ts";
import { FileFaults, readListing, SANDBOX_FOLDER, shownPath } from "./sandbox-listing.ts";

export interface FileLimits {
  readonly fileBytesMax: number;
  readonly containerBytesMax: number;
  readonly filesMax: number;
}

/** A file at the last comparison of the sandbox and the store. */
interface KnownFile {
  /** The stored file at its path; null if there is none. */
  readonly file: KeptFile | null;
  /** The version of the file in the sandbox; null if it is not there. */
  readonly version: string | null;
}

/**
 * The number of files stored at the same time. Each waits several times for the disk and the database, and rarely for
 * the sandbox.
 */
const STORED_AT_ONCE_MAX = 16;

interface Place {
  readonly containers: StoredContainers;
  readonly sandbox: Sandbox;
  readonly owner: Owner;
  readonly containerId: string;
  readonly limits: FileLimits;
}

/** The container is gone or expired. */
export class ContainerGone extends Error {
  override readonly name = "ContainerGone";
}

class FileTooLarge extends Error {
  override readonly name = "FileTooLarge";
}

/**
 * Synchronizes the files of a sandbox with the stored files of its container. Its methods reject with `SandboxFailed`
 * if the sandbox has ended, with `ContainerGone`, or with the signal's reason.
 */
export class SessionFiles {
  readonly #place: Place;
  /** Keyed by path relative to `/mnt/data`. */
  readonly #knownFiles = new Map<string, KnownFile>();
  /** The bytes of the files that are being stored, by path. */
  readonly #underWay = new Map<string, number>();
  /** The sandbox reads one file at a time. */
  readonly #reading = new Semaphore(1);

  constructor(place: Place) {
    this.#place = place;
  }

  /** Copies stored changes and deletions since the last time into the sandbox. Returns faults as sentences. */
  async bring(files: readonly KeptFile[], signal: AbortSignal): Promise<readonly string[]> {
    const wantedFiles = new Map(files.map((file) => [file.path.slice(SANDBOX_FOLDER.length), file]));
    for (const [path, { file }] of this.#knownFiles)
      if (file !== null && !wantedFiles.has(path)) await this.#remove(path, signal);
    const missing = [...wantedFiles].filter(([path, { id }]) => this.#knownFiles.get(path)?.file?.id !== id);
    if (missing.length === 0) return [];
    const faults = new FileFaults();
    for (const [path, file] of missing) await this.#write(path, file, faults, signal);
    await this.#noteVersions(
      missing.map(([path]) => path),
      signal,
    );
    return faults.sentences;
  }

  /** Stores files that code created or changed, and deletes files that it removed. */
  async keep(signal: AbortSignal): Promise<FileChanges> {
    const { filesMax } = this.#place.limits;
    const faults = new FileFaults();
    const listing = await this.#place.sandbox.listFiles(filesMax + 1, signal);
    const files = readListing(listing.slice(0, filesMax), faults);
    if (listing.length > filesMax)
      faults.add(`There are more than ${filesMax} files in /mnt/data. Those beyond are not kept.`);
    else await this.#forgetRemoved(files);
    const changedFiles = [...files.values()].filter(
      ({ path, version }) => this.#knownFiles.get(path)?.version !== version,
    );
    return { changedFiles: await this.#keepAll(changedFiles, faults, signal), faults: faults.sentences };
  }

  /** Stores a picture shown by code. The sandbox gets it before the next call. */
  async keepPicture(png: Uint8Array, signal: AbortSignal): Promise<KeptFile | string> {
    const { containers, owner, containerId } = this.#place;
    const picture = { path: null, content: oneChunk(png), bytesMax: png.length };
    const keeping = await containers.keep(owner, containerId, picture, signal);
    if (keeping.type === "gone") throw new ContainerGone();
    return keeping.type === "kept"
      ? keeping.file
      : `A picture was not kept: ${whyNotKept(keeping, this.#place.limits)}.`;
  }

  async #write(path: string, file: KeptFile, faults: FileFaults, signal: AbortSignal): Promise<void> {
    const { containers, sandbox, owner, containerId } = this.#place;
    const content = await containers.read(owner, containerId, file.id);
    if (content === null) return; // It was deleted meanwhile.
    try {
      await sandbox.writeFile(path, content, signal);
      this.#knownFiles.set(path, { file, version: "" });
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      this.#knownFiles.set(path, { file, version: null });
      faults.add(`${shownPath(path)} is stored, but could not be written into the session.`);
    }
  }

  async #remove(path: string, signal: AbortSignal): Promise<void> {
    this.#knownFiles.delete(path);
    await this.#place.sandbox.removeFile(path, signal).catch((error: unknown) => {
      if (!(error instanceof FileRefused)) throw error;
    });
  }

  async #noteVersions(paths: readonly string[], signal: AbortSignal): Promise<void> {
    const listing = await this.#place.sandbox.listFiles(this.#place.limits.filesMax + paths.length, signal);
    const versions = new Map(listing.map(({ path, version }) => [path, version]));
    for (const path of paths) {
      const entry = this.#knownFiles.get(path);
      if (entry !== undefined && entry.version !== null)
        this.#knownFiles.set(path, { ...entry, version: versions.get(path) ?? null });
    }
  }

  /** Deletes files that are gone from the sandbox. */
  async #forgetRemoved(files: ReadonlyMap<string, SandboxFile>): Promise<void> {
    const { containers, owner, containerId } = this.#place;
    for (const [path, entry] of this.#knownFiles) {
      if (entry.version === null || files.has(path)) continue;
      this.#knownFiles.delete(path);
      if (entry.file !== null) await containers.remove(owner, containerId, entry.file.id);
    }
  }

  /** Rejects once nothing is read any more, so that the sandbox is free for another request. */
  async #keepAll(files: readonly SandboxFile[], faults: FileFaults, signal: AbortSignal): Promise<readonly KeptFile[]> {
    const failures: unknown[] = [];
    const results = await mapSomeAtOnce(files, STORED_AT_ONCE_MAX, async (file) => {
      if (failures.length > 0) return null;
      return await this.#keepFile(file, signal).catch((error: unknown) => {
        failures.push(error);
        return null;
      });
    });
    if (failures.length > 0) throw failures[0];
    for (const fault of results) if (typeof fault === "string") faults.add(fault);
    return results.filter((file) => file !== null && typeof file !== "string");
  }

  /** Resolves to the stored file, or to a sentence on why it was not stored. */
  async #keepFile({ path, bytes, version }: SandboxFile, signal: AbortSignal): Promise<KeptFile | string> {
    const { containers, owner, containerId, limits } = this.#place;
    const before = this.#knownFiles.get(path)?.file ?? null;
    const bytesLeft = Math.min(limits.fileBytesMax, this.#bytesLeft(path));
    this.#knownFiles.set(path, { file: before, version }); // A refused file is not read again until it changes.
    const refuse = (why: string): string => {
      const earlier = before === null ? "" : " Its earlier contents stay stored.";
      return `${shownPath(path)} was not kept: ${why}.${earlier}`;
    };
    if (before === null && this.#countBeside(path) >= limits.filesMax)
      return refuse(whyNotKept({ type: "full", of: "container" }, limits));
    try {
      if (bytes > bytesLeft) throw new FileTooLarge();
      this.#underWay.set(path, bytes);
      const content = bytesAtMost(this.#read(path, signal), bytesLeft, () => new FileTooLarge());
      const keeping = await containers.keep(
        owner,
        containerId,
        { path: SANDBOX_FOLDER + path, content, bytesMax: bytesLeft },
        signal,
      );
      if (keeping.type === "gone") throw new ContainerGone();
      if (keeping.type !== "kept") return refuse(whyNotKept(keeping, limits));
      this.#knownFiles.set(path, { file: keeping.file, version });
      return keeping.file;
    } catch (error) {
      if (error instanceof FileRefused) return refuse("it could not be read");
      if (!(error instanceof FileTooLarge)) throw error;
      return refuse(
        bytesLeft < limits.fileBytesMax
          ? whyNotKept({ type: "full", of: "container" }, limits)
          : `it is larger than ${megabytes(limits.fileBytesMax)}`,
      );
    } finally {
      this.#underWay.delete(path);
    }
  }

  /** The contents of a file, when no other one is being read. */
  async *#read(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const giveBack = await this.#reading.take(signal);
    try {
      yield* this.#place.sandbox.readFile(path, signal);
    } finally {
      giveBack();
    }
  }

  /** The number of other files stored and being stored. */
  #countBeside(path: string): number {
    let files = 0;
    for (const [other, { file }] of this.#knownFiles)
      if (other !== path && (file !== null || this.#underWay.has(other))) files += 1;
    return files;
  }

  /** The container's remaining bytes for this path. */
  #bytesLeft(path: string): number {
    let bytes = this.#place.limits.containerBytesMax;
    for (const [other, { file }] of this.#knownFiles)
      if (other !== path) bytes -= Math.max(file?.bytes ?? 0, this.#underWay.get(other) ?? 0);
    return Math.max(0, bytes);
  }
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

type Refused = Exclude<Awaited<ReturnType<StoredContainers["keep"]>>, { type: "kept" } | { type: "gone" }>;

function whyNotKept(refusal: Refused, { containerBytesMax, filesMax }: FileLimits): string {
  if (refusal.type === "bad_path") return "its name cannot be stored";
  if (refusal.of === "owner") return "the storage of this project is full";
  return `the container is full, which holds ${filesMax} files and ${megabytes(containerBytesMax)} at most`;
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1_000_000)} MB`;
}
