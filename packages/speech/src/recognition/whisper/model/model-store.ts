import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { download, type RetryTiming } from "./download.ts";
import { KNOWN_MODELS, modelFileName } from "./known-models.ts";
import { type ModelShape, readModelShape } from "./model-file.ts";

export interface ModelChoice {
  /** Path of a model file; null to use `name`. */
  readonly path: string | null;
  /** Such as `base.en`. */
  readonly name: string;
  /** Where models are looked for first and downloaded to. */
  readonly folder: string;
  /** Other folders that may hold the model. They are only read. */
  readonly otherFolders: readonly string[];
  readonly mayDownload: boolean;
  /** A folder of files on some server, such as `https://huggingface.co/ggerganov/whisper.cpp/resolve/main`. */
  readonly downloadUrl: string;
  /** SHA-256 of the file in hex; null for that of the published file of this name. */
  readonly sha256: string | null;
  readonly retryTiming?: RetryTiming;
  /** How long after a failed download the next one starts, in milliseconds. */
  readonly againMs?: number;
}

export interface FoundModel {
  readonly path: string;
  readonly shape: ModelShape;
}

/** The model does not exist here. The message is a sentence without a full stop. */
export class ModelMissing extends Error {
  override readonly name = "ModelMissing";
  /** Whether the model is missing only because downloads are not allowed. */
  readonly isNotAllowed: boolean;

  constructor(message: string, { isNotAllowed = false }: { readonly isNotAllowed?: boolean } = {}) {
    super(message);
    this.isNotAllowed = isNotAllowed;
  }
}

type OnProgress = (receivedBytes: number, totalBytes: number | null) => void;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * Finds the configured model, and downloads it if needed. Rejects with `ModelMissing`, `ModelFileError`,
 * `DownloadError` or the signal's reason.
 */
export async function findModel(choice: ModelChoice, onProgress: OnProgress, signal: AbortSignal): Promise<FoundModel> {
  if (choice.path !== null) {
    return { path: choice.path, shape: await readModelShape(choice.path) };
  }
  if (!NAME.test(choice.name)) throw new ModelMissing(`There is no speech model called "${choice.name}"`);
  const path = (await findOnDisk(choice)) ?? (await downloadModel(choice, onProgress, signal));
  return { path, shape: await readModelShape(path) };
}

/** The displayed name of a model, such as `base.en`. */
export function modelName({ path, name }: ModelChoice): string {
  if (path === null) return name;
  return basename(path)
    .replace(/^ggml-/, "")
    .replace(/\.bin$/, "");
}

/** SHA-256 of a whole file, in hex. */
export async function sha256OfFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { signal })) if (chunk instanceof Uint8Array) hash.update(chunk);
  return hash.digest("hex");
}

/** The expected SHA-256 of the model file in hex, or null if none is known. */
export function expectedSha256({ path, name, sha256 }: ModelChoice): string | null {
  return sha256 ?? (path === null ? (KNOWN_MODELS.get(name)?.sha256 ?? null) : null);
}

/** The path of the model file, or null if no folder holds it with the published size. */
async function findOnDisk({ folder, otherFolders, name, sha256 }: ModelChoice): Promise<string | null> {
  const bytes = sha256 === null ? (KNOWN_MODELS.get(name)?.bytes ?? null) : null;
  for (const place of [folder, ...otherFolders]) {
    const path = join(place, modelFileName(name));
    const stats = await stat(path).catch(() => null);
    if (stats?.isFile() === true && (bytes === null || stats.size === bytes)) return path;
  }
  return null;
}

async function downloadModel(choice: ModelChoice, onProgress: OnProgress, signal: AbortSignal): Promise<string> {
  const { folder, name, downloadUrl } = choice;
  const path = join(folder, modelFileName(name));
  const sha256 = expectedSha256(choice);
  if (sha256 === null)
    throw new ModelMissing(
      `There is no speech model ${path}, and "${name}" cannot be downloaded; the models that can are ${[...KNOWN_MODELS.keys()].join(", ")}`,
    );
  if (!choice.mayDownload)
    throw new ModelMissing(`There is no speech model ${path}, and WHISPER_DOWNLOAD forbids the download`, {
      isNotAllowed: true,
    });
  await rm(path, { force: true }); // A file of this name is there, but has the wrong size.
  await download(
    {
      url: `${downloadUrl.replace(/\/+$/, "")}/${modelFileName(name)}`,
      path,
      bytes: choice.sha256 === null ? (KNOWN_MODELS.get(name)?.bytes ?? null) : null,
      sha256,
      onProgress,
      ...(choice.retryTiming === undefined ? {} : { retryTiming: choice.retryTiming }),
    },
    signal,
  );
  return path;
}
