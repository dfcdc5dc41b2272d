import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { modelFileName } from "./known-models.ts";

/** A small model that comes with the program. */
export interface PackedModel {
  readonly name: string;
  /** The gzipped model file. */
  readonly path: string;
  /** Size of the unpacked file; `sha256` is also that of the unpacked file. */
  readonly bytes: number;
  readonly sha256: string;
  /** How many words it knows. */
  readonly words: number;
}

/** The model cannot be unpacked. The message is a sentence without a full stop. */
export class PackedModelError extends Error {
  override readonly name = "PackedModelError";
}

const unzip = promisify(gunzip);

/**
 * Unpacks a model into a folder, unless it is there already, and returns the file's path. Rejects with
 * `PackedModelError`.
 */
export async function unpackModel(model: PackedModel, folder: string): Promise<string> {
  const path = join(folder, modelFileName(model.name));
  const there = await readFile(path).catch(() => null);
  if (there !== null && isWhole(there, model)) return path;
  const bytes = await unpackBytes(model);
  if (!isWhole(bytes, model)) throw new PackedModelError(`The speech model ${model.path} is damaged`);
  const part = `${path}.${randomUUID()}`;
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(part, bytes);
    await rename(part, path); // Atomic, because other processes may read the file.
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw new PackedModelError(`The speech model ${model.name} cannot be unpacked into ${folder}`, { cause: error });
  }
  return path;
}

async function unpackBytes({ path, bytes }: PackedModel): Promise<Buffer> {
  try {
    return await unzip(await readFile(path), { maxOutputLength: bytes });
  } catch (error) {
    throw new PackedModelError(`The speech model ${path} cannot be unpacked`, { cause: error });
  }
}

function isWhole(file: Buffer, { bytes, sha256 }: PackedModel): boolean {
  return file.length === bytes && createHash("sha256").update(file).digest("hex") === sha256;
}
