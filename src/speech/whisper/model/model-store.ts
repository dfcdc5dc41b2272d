import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { download, type Patience } from "./download.ts";
import { KNOWN_MODELS, modelFileName } from "./known-models.ts";
import { type ModelShape, readModelShape } from "./model-file.ts";

export interface ModelChoice {
  /** A file; null: the model of this name. */
  readonly path: string | null;
  /** Such as `base.en`. */
  readonly name: string;
  /** Where models lie, and where they are downloaded to. */
  readonly folder: string;
  /** Other folders in which a model may lie already. Nothing is written there. */
  readonly otherFolders: readonly string[];
  readonly mayDownload: boolean;
  /** A folder of files on some server, such as `https://huggingface.co/ggerganov/whisper.cpp/resolve/main`. */
  readonly downloadUrl: string;
  /** The checksum of the file in hex; null: that of the published file of this name. */
  readonly sha256: string | null;
  readonly patience?: Patience;
  /** How long after a download in vain it is tried again. */
  readonly againMs?: number;
}

export interface FoundModel {
  readonly path: string;
  readonly shape: ModelShape;
}

/** There is no such model. The message is a sentence without a full stop. */
export class ModelMissing extends Error {
  override readonly name = "ModelMissing";
  /** Whether it could be downloaded, if that were allowed. */
  readonly isNotAllowed: boolean;

  constructor(message: string, { isNotAllowed = false }: { readonly isNotAllowed?: boolean } = {}) {
    super(message);
    this.isNotAllowed = isNotAllowed;
  }
}

type OnProgress = (receivedBytes: number, totalBytes: number | null) => void;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * The model that was chosen, downloaded if need be. Rejects with `ModelMissing`, `ModelFileError`, `DownloadError` or
 * the signal's reason.
 */
export async function findModel(choice: ModelChoice, onProgress: OnProgress, signal: AbortSignal): Promise<FoundModel> {
  if (choice.path !== null) {
    return { path: choice.path, shape: await readModelShape(choice.path) };
  }
  if (!NAME.test(choice.name)) throw new ModelMissing(`There is no speech model called "${choice.name}"`);
  const path = (await lyingThere(choice)) ?? (await downloaded(choice, onProgress, signal));
  return { path, shape: await readModelShape(path) };
}

/** What a model is called where it is shown: such as `base.en`. */
export function modelName({ path, name }: ModelChoice): string {
  if (path === null) return name;
  return basename(path)
    .replace(/^ggml-/, "")
    .replace(/\.bin$/, "");
}

/** Hex digest of a whole file. */
export async function sha256OfFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { signal })) if (chunk instanceof Uint8Array) hash.update(chunk);
  return hash.digest("hex");
}

/** What the checksum of a model's file should be; null where nobody said. */
export function expectedSha256({ path, name, sha256 }: ModelChoice): string | null {
  return sha256 ?? (path === null ? (KNOWN_MODELS.get(name)?.sha256 ?? null) : null);
}

/** Null where the file is nowhere, or has another size than the published one. */
async function lyingThere({ folder, otherFolders, name, sha256 }: ModelChoice): Promise<string | null> {
  const bytes = sha256 === null ? (KNOWN_MODELS.get(name)?.bytes ?? null) : null;
  for (const place of [folder, ...otherFolders]) {
    const path = join(place, modelFileName(name));
    const found = await stat(path).catch(() => null);
    if (found?.isFile() === true && (bytes === null || found.size === bytes)) return path;
  }
  return null;
}

async function downloaded(choice: ModelChoice, onProgress: OnProgress, signal: AbortSignal): Promise<string> {
  const { folder, name, downloadUrl } = choice;
  const path = join(folder, modelFileName(name));
  const sha256 = expectedSha256(choice);
  if (sha256 === null)
    throw new ModelMissing(
      `There is no speech model ${path}, and "${name}" is not one that can be downloaded: those are ${[...KNOWN_MODELS.keys()].join(", ")}`,
    );
  if (!choice.mayDownload)
    throw new ModelMissing(`There is no speech model ${path}, and WHISPER_DOWNLOAD does not allow to download it`, {
      isNotAllowed: true,
    });
  await rm(path, { force: true }); // Whatever it is, it is not that model.
  await download(
    {
      url: `${downloadUrl.replace(/\/+$/, "")}/${modelFileName(name)}`,
      path,
      bytes: choice.sha256 === null ? (KNOWN_MODELS.get(name)?.bytes ?? null) : null,
      sha256,
      onProgress,
      ...(choice.patience === undefined ? {} : { patience: choice.patience }),
    },
    signal,
  );
  return path;
}
