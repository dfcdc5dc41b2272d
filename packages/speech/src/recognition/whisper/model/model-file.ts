import { open } from "node:fs/promises";

/** The first number of every whisper.cpp model file. */
const MAGIC = 0x67676d6c;
const HEADER_NUMBERS = 12;
/** Models with a smaller vocabulary know English only. */
const MULTILINGUAL_VOCABULARY_MIN = 51_865;
const WORDS_MAX = 1_000_000;

/** The file is not a model that whisper.cpp can read. The message is a sentence without a full stop. */
export class ModelFileError extends Error {
  override readonly name = "ModelFileError";
}

export interface ModelShape {
  /** Encoder positions of a whole window, at 50 per second. */
  readonly positionsMax: number;
  readonly isMultilingual: boolean;
}

/** Reads the header of a model file. Rejects with `ModelFileError`. */
export async function readModelShape(path: string): Promise<ModelShape> {
  const header = Buffer.alloc(HEADER_NUMBERS * 4);
  const bytesRead = await readStart(path, header);
  if (bytesRead < header.length || header.readInt32LE(0) !== MAGIC)
    throw new ModelFileError(`${path} is not a whisper.cpp model file`);
  const vocabulary = header.readInt32LE(4);
  const positionsMax = header.readInt32LE(8);
  if (vocabulary < 1 || vocabulary > WORDS_MAX || positionsMax < 1)
    throw new ModelFileError(`${path} is a broken model file`);
  return { positionsMax, isMultilingual: vocabulary >= MULTILINGUAL_VOCABULARY_MIN };
}

async function readStart(path: string, into: Buffer): Promise<number> {
  try {
    await using file = await open(path, "r");
    return (await file.read(into, 0, into.length, 0)).bytesRead;
  } catch (error) {
    throw new ModelFileError(`The model file ${path} cannot be read`, { cause: error });
  }
}
