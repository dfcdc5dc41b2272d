/** How many chunks a file may have. The key of a chunk tells its file, so a search needs no second table for that. */
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

/** A word as it stands in the index: the words of each store are apart from those of others. */
export function placedWord(storeNumber: number, word: string): string {
  return `${storeNumber}x${word}`;
}
