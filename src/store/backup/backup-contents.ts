import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { BackupError } from "./backup-error.ts";
import { faultsOf } from "./database-copy.ts";

/** The names in a backup. Files are below `files` and `containers`, as in the data folder. */
export const DATABASE_NAME = "antiphon.db";
export const KEY_FILES = ["seal-key", "api-key"] as const;
const SUMS_NAME = "SHA256SUMS";
const SUMMARY_NAME = "backup.json";

const FORMAT = 1;
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const SUM_LINE = /^([0-9a-f]{64}) {2}(\S.*)$/;

/** A file in a backup. */
export interface BackedUpFile {
  /** Relative to the backup. */
  readonly path: string;
  readonly sha256: string;
}

/** The description of a backup in `backup.json`. */
export interface BackupSummary {
  readonly madeAt: string;
  /** The version of the program that made it. */
  readonly version: string;
  readonly files: number;
  /** The checksum of the file of checksums. */
  readonly sums: string;
  /** Sentences about data that must be backed up elsewhere. */
  readonly notIncluded: readonly string[];
}

/** Copies a file durably. Resolves to its checksum; null if the file does not exist. */
export async function copyFile(from: string, to: string): Promise<string | null> {
  await mkdir(dirname(to), { recursive: true, mode: OWNER_ONLY_FOLDER });
  const source = await open(from).catch(nullIfMissing);
  if (source === null) return null;
  const target = await open(to, "wx", OWNER_ONLY_FILE);
  try {
    const hash = createHash("sha256");
    await target.writeFile(hashPieces(source.createReadStream(), hash));
    await target.sync();
    return hash.digest("hex");
  } finally {
    await target.close();
  }
}

async function* hashPieces(
  pieces: AsyncIterable<unknown>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    if (!(piece instanceof Uint8Array)) continue;
    hash.update(piece);
    yield piece;
  }
}

export async function sumOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file)) if (piece instanceof Uint8Array) hash.update(piece);
  return hash.digest("hex");
}

/** Writes the checksums, in the format of `sha256sum --check`, and the summary. */
export async function describeBackup(
  folder: string,
  files: readonly BackedUpFile[],
  more: Pick<BackupSummary, "madeAt" | "version" | "notIncluded">,
): Promise<BackupSummary> {
  const sums = join(folder, SUMS_NAME);
  const lines = files.map(({ path, sha256 }) => `${sha256}  ${path}\n`);
  await writeFile(sums, lines.join(""), { mode: OWNER_ONLY_FILE, flag: "wx", flush: true });
  const summary = { ...more, files: files.length, sums: await sumOf(sums) };
  const text = `${JSON.stringify({ format: FORMAT, ...summary }, null, 2)}\n`;
  await writeFile(join(folder, SUMMARY_NAME), text, { mode: OWNER_ONLY_FILE, flag: "wx", flush: true });
  return summary;
}

/** A backup whose files are unchanged. */
export interface CheckedBackup {
  readonly files: readonly BackedUpFile[];
  /** The version of the program that made it. */
  readonly version: string;
}

/** Checks all checksums and the database. Rejects with `BackupError` if anything was changed. */
export async function checkBackup(folder: string): Promise<CheckedBackup> {
  const summary = await readSummary(folder);
  const sumsFile = join(folder, SUMS_NAME);
  const sums = await readFile(sumsFile, "utf8").catch(nullIfMissing);
  if (sums === null || (await sumOf(sumsFile)) !== summary.sums) throw spoilt(SUMS_NAME);
  const files = sums.split("\n").flatMap((line) => fileIn(line));
  if (files.length !== summary.files) throw spoilt(SUMS_NAME);
  for (const { path, sha256 } of files) {
    const isThere = (await stat(join(folder, path)).catch(nullIfMissing)) !== null;
    if (!isThere) throw new BackupError(`The backup is incomplete: ${path} is missing.`);
    if ((await sumOf(join(folder, path))) !== sha256) throw spoilt(path);
  }
  const faults = faultsOf(join(folder, DATABASE_NAME));
  if (faults.length > 0) throw new BackupError(`The database is damaged: ${faults.join("; ")}`);
  return { files, version: summary.version };
}

async function readSummary(folder: string): Promise<Pick<BackupSummary, "files" | "sums" | "version">> {
  if ((await stat(folder).catch(nullIfMissing))?.isDirectory() !== true)
    throw new BackupError(`There is no folder ${folder}.`);
  const text = await readFile(join(folder, SUMMARY_NAME), "utf8").catch(nullIfMissing);
  if (text === null) throw new BackupError(`${folder} is not a complete backup: it has no ${SUMMARY_NAME}.`);
  const read = jsonOrUndefined(text);
  if (!isRecord(read) || typeof read["files"] !== "number" || typeof read["sums"] !== "string")
    throw spoilt(SUMMARY_NAME);
  if (read["format"] !== FORMAT)
    throw new BackupError(`The backup has the format ${String(read["format"])}, which needs a later version.`);
  return { files: read["files"], sums: read["sums"], version: String(read["version"]) };
}

/** Names that lead out of the backup are invalid. */
function fileIn(line: string): readonly BackedUpFile[] {
  const [, sha256, path] = SUM_LINE.exec(line) ?? [];
  if (sha256 === undefined || path === undefined || path.startsWith("/") || path.split("/").includes("..")) return [];
  return [{ path, sha256 }];
}

function spoilt(name: string): BackupError {
  return new BackupError(`The backup was changed after it was made: ${name} has other contents.`);
}

export function nullIfMissing(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}
