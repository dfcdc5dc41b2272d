import { type Kysely, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { ChunkIndex, KnownWord, NumberedModel } from "../chunk-index.ts";
import { CHUNKS_OF_FILE_MAX, chunkKey, fileOfChunk, placedWord } from "../chunk-keys.ts";
import type { QuantizedVectors } from "../quantized.ts";
import { type FileVectors, ordinalsOf } from "../vector-scores.ts";
import type { SearchedFile, WordCount } from "../word-scores.ts";

/** The maximum bytes of vectors per statement, or one file. */
const BYTES_AT_ONCE_MAX = 4 * 1024 * 1024;
/** The maximum words per statement, so that its result stays small. */
const WORDS_AT_ONCE_MAX = 8;
/** The place of a word: the key of its chunk in 8 bytes, and its count in 4. */
const PLACE_BYTES = 12;
const REAL_BYTES = 4;
/** The header of a `real[]` in PostgreSQL's binary format. */
const HEADER_BYTES = 20;

interface WordRow {
  readonly place: number;
  readonly chunks: number;
  readonly places: Buffer | null;
}

interface VectorRow {
  readonly key: number;
  readonly steps: Buffer;
  readonly scale: number;
}

/** Words in a GIN index, and vectors as 32-bit floats and with 8 bits per component. */
export class PostgresChunkIndex implements ChunkIndex {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async findWords(
    stores: readonly number[],
    words: readonly string[],
    chunksMax: number,
  ): Promise<readonly KnownWord[]> {
    const knownWords: KnownWord[] = [];
    for (let start = 0; start < words.length; start += WORDS_AT_ONCE_MAX)
      knownWords.push(...(await this.#findUpTo(stores, words.slice(start, start + WORDS_AT_ONCE_MAX), chunksMax)));
    const areAllCommon = knownWords.length > 1 && knownWords.every(({ places }) => places === null);
    return areAllCommon ? await this.#count(stores, words) : knownWords;
  }

  async placesOf(stores: readonly number[], word: string): Promise<readonly WordCount[]> {
    const [knownWord] = await this.#findUpTo(stores, [word], Number.MAX_SAFE_INTEGER);
    return knownWord?.places ?? [];
  }

  async *readFiles(model: NumberedModel, files: readonly SearchedFile[]): AsyncGenerator<FileVectors, void> {
    for (const some of inPortions(files, model.dimensions)) {
      const { rows } = await sql<VectorRow>`
        select vectors.key, vectors.steps, vectors.scale
        from unnest(${some.map(({ number }) => chunkKey(number, 0))}::bigint[]) as file
        join vector_store_vectors as vectors on vectors.model_number = ${model.number}
          and vectors.key >= file and vectors.key < file + ${sql.lit(CHUNKS_OF_FILE_MAX)}`.execute(this.#db);
      for (const [file, ofFile] of Map.groupBy(rows, ({ key }) => fileOfChunk(key))) yield fileVectors(file, ofFile);
    }
  }

  async vectorsOf(model: NumberedModel, keys: readonly number[]): Promise<ReadonlyMap<number, Float32Array>> {
    const { rows } = await sql<{ readonly key: number; readonly vector: Buffer }>`
      select key, array_send(vector) as vector from vector_store_vectors
      where model_number = ${model.number} and key = any(${keys}::bigint[])`.execute(this.#db);
    return new Map(rows.map(({ key, vector }) => [key, floatsOf(vector)]));
  }

  /**
   * The places of the words that are in fewer chunks than `chunksMax`; stops reading at that limit. The limit is
   * outside a materialized query, which is still read row by row. Otherwise PostgreSQL would expect to reach the limit
   * quickly without the index, and would read all owners' words if a word is rare.
   */
  async #findUpTo(
    stores: readonly number[],
    words: readonly string[],
    chunksMax: number,
  ): Promise<readonly KnownWord[]> {
    const { rows } = await sql<WordRow>`
      select asked.place, found.chunks, case when found.chunks < ${chunksMax}::bigint then found.places end as places
      from unnest(${words}::text[], ${words.map((word) => queryOf(stores, word))}::text[])
          with ordinality as asked (word, query, place)
        cross join lateral (
          select count(*) as chunks, string_agg(int8send(key) || int4send(coalesce((repeated ->> word)::int, 1)), '')
            as places
          from (with matches as materialized (
              select key, repeated from vector_store_words where words @@ query::tsquery)
            select * from matches limit ${chunksMax}::bigint) as some_matches) as found
      where found.chunks > 0
      order by asked.place`.execute(this.#db);
    return rows.map(({ place, chunks, places }) => ({
      word: words[place - 1] ?? "",
      chunks,
      places: places === null ? null : placesIn(places),
    }));
  }

  /** Counts all chunks with a word. */
  async #count(stores: readonly number[], words: readonly string[]): Promise<readonly KnownWord[]> {
    const { rows } = await sql<Omit<WordRow, "places">>`
      select place, (select count(*) from vector_store_words where words @@ query::tsquery) as chunks
      from unnest(${words.map((word) => queryOf(stores, word))}::text[]) with ordinality as asked (query, place)
      order by place`.execute(this.#db);
    return rows.flatMap(({ place, chunks }) =>
      chunks === 0 ? [] : [{ word: words[place - 1] ?? "", chunks, places: null }],
    );
  }
}

/** The query for this word in these stores. Words consist of letters, numbers and marks only. */
function queryOf(stores: readonly number[], word: string): string {
  return stores.map((store) => `'${placedWord(store, word)}'`).join(" | ");
}

function placesIn(bytes: Buffer): readonly WordCount[] {
  const places: WordCount[] = [];
  for (let at = 0; at < bytes.length; at += PLACE_BYTES)
    places.push({ key: Number(bytes.readBigInt64BE(at)), count: bytes.readInt32BE(at + 8) });
  return places;
}

function* inPortions(files: readonly SearchedFile[], dimensions: number): Generator<readonly SearchedFile[]> {
  let some: SearchedFile[] = [];
  let bytes = 0;
  for (const file of files) {
    const size = file.chunks * dimensions;
    if (some.length > 0 && bytes + size > BYTES_AT_ONCE_MAX) {
      yield some;
      [some, bytes] = [[], 0];
    }
    some.push(file);
    bytes += size;
  }
  if (some.length > 0) yield some;
}

function fileVectors(file: number, rows: readonly VectorRow[]): FileVectors {
  const sortedRows = rows.toSorted((one, other) => one.key - other.key);
  const width = sortedRows[0]?.steps.length ?? 0;
  const steps = new Int8Array(sortedRows.length * width);
  for (const [index, row] of sortedRows.entries()) steps.set(row.steps, index * width);
  const vectors: QuantizedVectors = {
    count: sortedRows.length,
    width,
    rows: steps,
    scales: Float32Array.from(sortedRows, ({ scale }) => scale),
  };
  const keys = sortedRows.map(({ key }) => key);
  return { file, ordinals: ordinalsOf(file, keys), vectors };
}

/** Each value follows its length. */
function floatsOf(bytes: Buffer): Float32Array {
  const count = Math.max(0, bytes.length - HEADER_BYTES) / (2 * REAL_BYTES);
  return Float32Array.from({ length: count }, (_, index) =>
    bytes.readFloatBE(HEADER_BYTES + index * 2 * REAL_BYTES + REAL_BYTES),
  );
}
