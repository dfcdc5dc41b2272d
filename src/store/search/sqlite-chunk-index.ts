import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database } from "../database/schema.ts";
import type { ChunkIndex, KnownWord, NumberedModel } from "./chunk-index.ts";
import { chunkKey, placedWord } from "./chunk-keys.ts";
import { quantize } from "./quantized.ts";
import { type FileVectors, ordinalsOf } from "./vector-scores.ts";
import type { SearchedFile, WordCount } from "./word-scores.ts";

interface VectorRow {
  readonly key: number;
  readonly vector: Uint8Array;
}

/** Words in FTS5, and vectors as 32-bit floats. */
export class SqliteChunkIndex implements ChunkIndex {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async findWords(stores: readonly number[], words: readonly string[]): Promise<readonly KnownWord[]> {
    const knownWords: KnownWord[] = [];
    for (const word of words) {
      const query = stores.map((store) => `"${placedWord(store, word)}"`).join(" OR ");
      const [row] = await this.#rows<{ readonly chunks: number }>(sql`select count(*) as chunks from vector_store_words
        where vector_store_words match ${query}`);
      if (row !== undefined && row.chunks > 0) knownWords.push({ word, chunks: row.chunks, places: null });
    }
    return knownWords;
  }

  async placesOf(stores: readonly number[], word: string): Promise<readonly WordCount[]> {
    const counts: (readonly WordCount[])[] = [];
    for (const store of stores)
      counts.push(
        await this.#rows<WordCount>(sql`select doc as key, count(*) as count from vector_store_word_places
          where term = ${placedWord(store, word)} group by doc`),
      );
    return counts.flat();
  }

  async *readFiles(model: NumberedModel, files: readonly SearchedFile[]): AsyncGenerator<FileVectors, void> {
    for (const { number } of files) {
      const rows = await this.#rows<VectorRow>(sql`select key, vector from vector_store_vectors
        where model_number = ${model.number} and key >= ${chunkKey(number, 0)} and key < ${chunkKey(number + 1, 0)}
        order by key`);
      yield fileVectors(number, model.dimensions, rows);
    }
  }

  async vectorsOf(model: NumberedModel, keys: readonly number[]): Promise<ReadonlyMap<number, Float32Array>> {
    const rows = await this.#rows<VectorRow>(sql`select key, vector from vector_store_vectors
      where model_number = ${model.number} and key in (${sql.join(keys)})`);
    return new Map(rows.map(({ key, vector }) => [key, floatsOf(vector)]));
  }

  async #rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]> {
    const { rows } = await sql<Row>`${query}`.execute(this.#db);
    return rows;
  }
}

/** `rows` in the order of their keys. */
function fileVectors(number: number, dimensions: number, rows: readonly VectorRow[]): FileVectors {
  const all = new Float32Array(rows.length * dimensions);
  for (const [index, { vector }] of rows.entries())
    all.set(floatsOf(vector).subarray(0, dimensions), index * dimensions);
  const keys = rows.map(({ key }) => key);
  return { file: number, ordinals: ordinalsOf(number, keys), vectors: quantize(all, dimensions) };
}

/** Copies the bytes if they are not aligned for floats. */
function floatsOf(bytes: Uint8Array): Float32Array {
  const alignedBytes = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new Float32Array(
    alignedBytes.buffer,
    alignedBytes.byteOffset,
    alignedBytes.byteLength / Float32Array.BYTES_PER_ELEMENT,
  );
}
