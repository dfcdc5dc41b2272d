import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mapSomeAtOnce } from "@antiphon/base/limits/map-some-at-once.ts";
import { type FolderFile, hashFile, listFolder } from "./folder-files.ts";
import { StoreCallFailed, type StoreCalls, type StoreEntry } from "./store-calls.ts";

/** How far a step is. `stage`: files are uploaded, then read and indexed by the server. */
export interface StepProgress {
  readonly stage: "uploading" | "indexing";
  readonly done: number;
  readonly total: number;
}

/** A file that the server could not read. */
export interface UnreadFile {
  readonly path: string;
  readonly why: string;
}

/** What a step did. */
export interface StepResult {
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly unread: readonly UnreadFile[];
}

export interface StepParts {
  readonly calls: StoreCalls;
  readonly storeId: string;
  /** Absolute. Names the files of this folder in the store. */
  readonly folder: string;
  readonly showProgress: (progress: StepProgress) => void;
  readonly signal: AbortSignal;
}

const UPLOADS_AT_ONCE = 4;
const LOOK_MS = 300;
/** The server's answers to a file that it does not take. */
const REFUSED_FILE: ReadonlySet<number | null> = new Set([400, 413]);
const FILE_FAULTS: ReadonlySet<unknown> = new Set(["ENOENT", "EACCES", "EPERM", "ERR_INVALID_ARG_VALUE"]);

/** A file whose content in the store is missing or old. */
interface Upload {
  readonly file: FolderFile;
  readonly hash: string;
  readonly old: StoreEntry | null;
}

/**
 * Brings a store in step with a folder: uploads files that are new or have another content, and deletes those that are
 * gone. The attributes of each file in the store say what it was made from, so nothing is kept elsewhere, and files
 * that others added are left alone. An old content is found until the new one is indexed.
 */
export async function keepInStep(parts: StepParts): Promise<StepResult> {
  const { calls, folder, signal } = parts;
  const files = await listFolder(folder);
  const entries = await entriesOf(parts);
  const uploads: Upload[] = [];
  for (const file of files.values()) {
    signal.throwIfAborted();
    const upload = await compare(parts, file, entries.get(file.path) ?? null);
    if (upload !== null) uploads.push(upload);
  }
  const unread = await addAll(parts, uploads);
  const gone = [...entries].filter(([path]) => !files.has(path));
  for (const [, { fileId }] of gone) await calls.deleteFile(fileId);
  const changed = uploads.filter(({ old }) => old !== null).length;
  const unchanged = files.size - uploads.length;
  return { added: uploads.length - changed, changed, deleted: gone.length, unchanged, unread };
}

/** The files of this folder in the store by their paths. Of several with one path, older ones are deleted. */
async function entriesOf({ calls, storeId, folder }: StepParts): Promise<ReadonlyMap<string, StoreEntry>> {
  const entries = new Map<string, StoreEntry>();
  const doubled: StoreEntry[] = [];
  for await (const entry of calls.listFiles(storeId)) {
    const { folder: from, path } = entry.attributes;
    if (from !== folder || typeof path !== "string") continue;
    const earlier = entries.get(path);
    if (earlier !== undefined) doubled.push(earlier);
    entries.set(path, entry);
  }
  for (const { fileId } of doubled) await calls.deleteFile(fileId); // An earlier step was interrupted.
  return entries;
}

/** Null if the store has the content of the file. A file is read again only if its size or its time has changed. */
async function compare(
  { calls, storeId, folder }: StepParts,
  file: FolderFile,
  old: StoreEntry | null,
): Promise<Upload | null> {
  const { bytes, changed_at: changedAt, sha256 } = old?.attributes ?? {};
  const isLost = old === null || old.status === "cancelled";
  if (!isLost && bytes === file.bytes && changedAt === file.changedAtMs) return null;
  const hash = await hashFile(join(folder, file.path)).catch(() => null);
  if (hash === null) return null; // It is gone by now, or must not be read.
  if (isLost || hash !== sha256) return { file, hash, old };
  await calls.changeAttributes(storeId, old.fileId, attributesOf(folder, file, hash));
  return null;
}

function attributesOf(folder: string, { path, bytes, changedAtMs }: FolderFile, hash: string) {
  return { path, folder, bytes, changed_at: changedAtMs, sha256: hash };
}

/** Uploads files and waits until the server has indexed them. Resolves to those that it could not read. */
async function addAll(parts: StepParts, uploads: readonly Upload[]): Promise<readonly UnreadFile[]> {
  const { calls, showProgress } = parts;
  const total = uploads.length;
  let done = 0;
  const sent = await mapSomeAtOnce(uploads, UPLOADS_AT_ONCE, async (upload) => {
    const outcome = await send(parts, upload);
    done += 1;
    showProgress({ stage: "uploading", done, total });
    return outcome;
  });
  const unread: UnreadFile[] = [];
  for (const [index, outcome] of sent.entries()) {
    const { path, old } = outcome;
    const why = outcome.fileId === null ? outcome.why : (await whenIndexed(parts, outcome.fileId)).failure;
    if (why !== null) unread.push({ path, why });
    if (outcome.fileId !== null && old !== null) await calls.deleteFile(old.fileId);
    showProgress({ stage: "indexing", done: index + 1, total });
  }
  return unread;
}

type SentFile = { readonly path: string; readonly old: StoreEntry | null } & (
  | { readonly fileId: string }
  | { readonly fileId: null; readonly why: string }
);

/** A file that cannot be sent does not stop the others. */
async function send({ calls, storeId, folder }: StepParts, { file, hash, old }: Upload): Promise<SentFile> {
  const { path } = file;
  try {
    const fileId = await calls.upload(join(folder, path));
    await calls.addFile(storeId, fileId, attributesOf(folder, file, hash));
    return { path, old, fileId };
  } catch (error) {
    if (error instanceof StoreCallFailed ? !REFUSED_FILE.has(error.status) : !isFileFault(error)) throw error;
    return { path, old, fileId: null, why: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether a file is gone, or must not be read. */
function isFileFault(error: unknown): boolean {
  return error instanceof Error && "code" in error && FILE_FAULTS.has(error.code);
}

async function whenIndexed({ calls, storeId, signal }: StepParts, fileId: string): Promise<StoreEntry> {
  for (;;) {
    const entry = await calls.findFile(storeId, fileId);
    if (entry.status !== "in_progress") return entry;
    await sleep(LOOK_MS, null, { signal });
  }
}
