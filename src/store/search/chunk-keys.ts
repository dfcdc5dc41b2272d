/** The maximum chunks per file. The key of a chunk contains its file, so a search needs no second table. */
export const CHUNKS_OF_FILE_MAX = 2 ** 20;

export function chunkKey(fileNumber: number, ordinal: number): number {
  return fileNumber * CHUNKS_OF_FILE_MAX + ordinal;
}

export function fileOfChunk(key: number): number {
  return Math.floor(key / CHUNKS_OF_FILE_MAX);
}

export function ordinalOfChunk(key: number): number {
  return key % CHUNKS_OF_FILE_MAX;
}

/** A word in the index, prefixed by its store. */
export function placedWord(storeNumber: number, word: string): string {
  return `${storeNumber}x${word}`;
}
