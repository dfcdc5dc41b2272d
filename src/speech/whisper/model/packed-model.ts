import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { modelFileName } from "./known-models.ts";

/** A small model that comes with the program. */
export interface PackedModel {
  readonly name: string;
  /** Its file, packed by gzip. */
  readonly path: string;
  /** Of the file once it is unpacked. */
  readonly bytes: number;
  readonly sha256: string;
  /** How many words it knows. */
  readonly words: number;
}

/** It cannot be unpacked. The message is a sentence without a full stop. */
export class PackedModelError extends Error {
  override readonly name = "PackedModelError";
}

const unzip = promisify(gunzip);

/** The path of the unpacked file in a folder, where it is left for the next time. Rejects with `PackedModelError`. */
export async function unpackModel(model: PackedModel, folder: string): Promise<string> {
  const path = join(folder, modelFileName(model.name));
  const there = await readFile(path).catch(() => null);
  if (there !== null && isWhole(there, model)) return path;
  const bytes = await unpacked(model);
  if (!isWhole(bytes, model)) throw new PackedModelError(`The speech model ${model.path} is damaged`);
  const part = `${path}.${randomUUID()}`;
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(part, bytes);
    await rename(part, path); // Other processes may read it.
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw new PackedModelError(`The speech model ${model.name} cannot be unpacked into ${folder}`, { cause: error });
  }
  return path;
}

async function unpacked({ path, bytes }: PackedModel): Promise<Buffer> {
  try {
    return await unzip(await readFile(path), { maxOutputLength: bytes });
  } catch (error) {
    throw new PackedModelError(`The speech model ${path} cannot be unpacked`, { cause: error });
  }
}

function isWhole(file: Buffer, { bytes, sha256 }: PackedModel): boolean {
  return file.length === bytes && createHash("sha256").update(file).digest("hex") === sha256;
}
