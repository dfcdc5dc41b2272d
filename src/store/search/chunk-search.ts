import type { FileAttributes } from "@antiphon/contracts/responses-api/types.ts";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { VectorModel } from "../../vector-stores/ports/chunks.ts";
import type {
  ChunkHit,
  ChunkQuestion,
  ChunksFound,
  FoundChunk,
  SearchScope,
} from "../../vector-stores/ports/search.ts";
import type { Database } from "../database/schema.ts";
import { storedJson } from "../database/stored-json.ts";
import type { ChunkIndex, KnownWord, NumberedModel } from "./chunk-index.ts";
import { CHUNKS_OF_FILE_MAX, fileOfChunk, ordinalOfChunk } from "./chunk-keys.ts";
import { filterSql } from "./filter-sql.ts";
import type { SearchPlaces } from "./search-messages.ts";
import { compareChunks, NearestChunks, type VectorCache } from "./vector-scores.ts";
import { type SearchedFile, type WordCount, WordScores } from "./word-scores.ts";

/** Over-fetch: estimates are close, so score 4x the requested chunks exactly. */
const CANDIDATES_PER_RESULT = 4;
/** A word in more than this share of the chunks says little about any of them. */
const COMMON_SHARE = 0.1;
/** In fewer chunks than this, no word costs much. */
const COMMON_CHUNKS_MIN = 2_000;
/** Below SQLite's limit on variables. */
const KEYS_AT_ONCE_MAX = 500;

const NO_COSINE = { cosine: null, nearness: null, model: null } as const;

interface SearchedStore {
  readonly number: number;
  readonly id: string;
  readonly isExpired: boolean;
  readonly model: NumberedModel | null;
  readonly languages: readonly string[];
}

interface FileRow extends SearchedFile {
  readonly storeNumber: number;
  /** Null if it has no vectors yet. They may still come, so such a file is not cached. */
  readonly modelNumber: number | null;
}

/** Searches chunks by reading the database, and caches vectors in memory. Never writes. */
export class ChunkSearch {
  readonly #db: Kysely<Database>;
  readonly #index: ChunkIndex;
  readonly #vectors: VectorCache;

  constructor(db: Kysely<Database>, index: ChunkIndex, vectors: VectorCache) {
    this.#db = db;
    this.#index = index;
    this.#vectors = vectors;
  }

  /** See `ChunkFinder.modelsOf`. */
  async modelsOf(scope: SearchPlaces): Promise<readonly VectorModel[]> {
    return modelsOf(await this.#findStores(scope)).map(({ name, dimensions }) => ({ name, dimensions }));
  }

  /** See `ChunkFinder.languagesOf`. */
  async languagesOf(scope: SearchPlaces): Promise<readonly string[]> {
    return [...new Set((await this.#findStores(scope)).flatMap(({ languages }) => languages))];
  }

  /** Nothing to close. */
  async close(): Promise<void> {}

  /** See `ChunkFinder.find`. */
  async find(scope: SearchScope, questions: readonly ChunkQuestion[], perKindMax: number): Promise<ChunksFound> {
    const stores = await this.#findStores(scope);
    const ids = new Set(stores.map(({ id }) => id));
    const unknown = scope.storeIds.find((id) => !ids.has(id));
    if (unknown !== undefined) return { type: "unknown_store", storeId: unknown };
    const expiredStore = stores.find(({ isExpired }) => isExpired);
    if (expiredStore !== undefined) return { type: "expired_store", storeId: expiredStore.id };
    const files = await this.#findFiles(stores, scope);
    const hits: (readonly ChunkHit[])[] = [];
    for (const question of questions) hits.push(await this.#answer(stores, files, question, perKindMax));
    const keys = new Set(hits.flatMap((ofQuestion) => ofQuestion.map(({ key }) => key)));
    return { type: "found", hits, chunks: await this.#load(stores, [...keys]) };
  }

  async #answer(
    stores: readonly SearchedStore[],
    files: ReadonlyMap<number, FileRow>,
    { words, stopWords, vectors }: ChunkQuestion,
    perKindMax: number,
  ): Promise<readonly ChunkHit[]> {
    const scores = await this.#scoreWords(stores, files, { words, stopWords });
    const candidates = scores.candidates(perKindMax * CANDIDATES_PER_RESULT);
    const near = new Set<number>();
    const cosines = new Map<number, Pick<ChunkHit, "cosine" | "nearness" | "model">>();
    for (const { model, vector, commonShare } of vectors) {
      const searchedStores = stores.filter((store) => isModel(store.model, model));
      const nearest = await this.#nearest(searchedStores, files, vector, perKindMax);
      const chunkVectors = await this.#vectorsOf(searchedStores, files, [...nearest, ...candidates]);
      const nearnesses = compareChunks({ vector, commonShare }, chunkVectors, nearest);
      for (const [key, nearness] of nearnesses) cosines.set(key, { ...nearness, model: model.name });
      for (const key of best(nearest, (one) => nearnesses.get(one)?.nearness ?? -1, perKindMax)) near.add(key);
    }
    const lengths = await this.#lengthsOf([...near, ...candidates]);
    const scored = new Map([...near, ...candidates].map((key) => [key, scores.scoreOf(key, lengths.get(key) ?? 0)]));
    const keys = new Set([...near, ...best(candidates, (key) => scored.get(key)?.words ?? 0, perKindMax)]);
    return [...keys].map((key) => ({
      key,
      words: scored.get(key)?.words ?? 0,
      coverage: scored.get(key)?.coverage ?? 0,
      ...(cosines.get(key) ?? NO_COSINE),
    }));
  }

  /**
   * Leaves out words that are in many chunks, the most frequent first, if the question has others: they say little and
   * cost much.
   */
  async #scoreWords(
    stores: readonly SearchedStore[],
    files: ReadonlyMap<number, FileRow>,
    { words, stopWords }: Omit<ChunkQuestion, "vectors">,
  ): Promise<WordScores> {
    const scores = new WordScores(files);
    const numbers = stores.map(({ number }) => number);
    const commonFrom = Math.max(COMMON_CHUNKS_MIN, scores.chunkCount * COMMON_SHARE);
    const forms = [...new Set([...words, ...stopWords].flat())];
    const known = new Map<string, KnownWord>();
    for (const form of await this.#index.findWords(numbers, forms, Math.ceil(commonFrom))) known.set(form.word, form);
    const rarestFirst = countForms(words, known).toSorted((one, other) => one.chunks - other.chunks);
    const rarest = rarestFirst.find(({ chunks }) => chunks > 0);
    for (const word of rarestFirst)
      if (word === rarest || word.chunks < commonFrom) scores.add(await this.#placesOf(numbers, word.knownForms));
    for (const word of countForms(stopWords, known))
      if (word.chunks < commonFrom) scores.addStopWord(await this.#placesOf(numbers, word.knownForms));
    return scores;
  }

  /** The places of a word in any of its forms. A chunk may come several times. */
  async #placesOf(stores: readonly number[], forms: readonly KnownWord[]): Promise<readonly WordCount[]> {
    const places: (readonly WordCount[])[] = [];
    for (const form of forms) places.push(form.places ?? (await this.#index.placesOf(stores, form.word)));
    return places.flat();
  }

  async #lengthsOf(keys: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const lengths = new Map<number, number>();
    for (const some of inPortions([...new Set(keys)])) {
      const rows = await this.#db
        .selectFrom("vector_store_chunks")
        .select(["key", "word_count"])
        .where("key", "in", some)
        .execute();
      for (const row of rows) lengths.set(row.key, row.word_count);
    }
    return lengths;
  }

  /** More candidates than requested, because their cosines are estimated, and because their order changes yet. */
  async #nearest(
    stores: readonly SearchedStore[],
    files: ReadonlyMap<number, FileRow>,
    vector: Float32Array,
    perKindMax: number,
  ): Promise<readonly number[]> {
    const nearest = new NearestChunks(vector, perKindMax * CANDIDATES_PER_RESULT);
    for (const model of modelsOf(stores)) {
      const lacking: FileRow[] = [];
      for (const file of filesWith(model, stores, files)) {
        const fileVectors = this.#vectors.get(model.number, file.number);
        if (fileVectors === undefined) lacking.push(file);
        else nearest.add(fileVectors);
      }
      for await (const read of this.#index.readFiles(model, lacking)) {
        this.#vectors.add(model.number, read);
        nearest.add(read);
      }
    }
    return nearest.keys;
  }

  /** The vectors of these chunks, without duplicates; chunks of other stores are left out. */
  async #vectorsOf(
    stores: readonly SearchedStore[],
    files: ReadonlyMap<number, FileRow>,
    keys: readonly number[],
  ): Promise<ReadonlyMap<number, Float32Array>> {
    const vectors = new Map<number, Float32Array>();
    const storeNumbers = new Set(stores.map(({ number }) => number));
    const own = [...new Set(keys)].filter((key) => storeNumbers.has(files.get(fileOfChunk(key))?.storeNumber ?? 0));
    for (const model of modelsOf(stores))
      for (const some of inPortions(own))
        for (const [key, storedVector] of await this.#index.vectorsOf(model, some)) vectors.set(key, storedVector);
    return vectors;
  }

  async #findStores({ owner, storeIds }: SearchPlaces): Promise<readonly SearchedStore[]> {
    const rows = await this.#db
      .selectFrom("vector_stores")
      .leftJoin("vector_models", "vector_models.number", "vector_stores.model_number")
      .select([
        "vector_stores.number",
        "vector_stores.id",
        "vector_stores.is_expired as isExpired",
        "vector_stores.model_number as modelNumber",
        "vector_models.name as modelName",
        "vector_models.dimensions",
        "vector_stores.languages",
      ])
      .where("vector_stores.organization", "=", owner.organization)
      .where("vector_stores.project", "=", owner.project)
      .where("vector_stores.id", "in", storeIds)
      .execute();
    return rows.map(({ number, id, isExpired, modelNumber, modelName: name, dimensions, languages }) => {
      const isKnown = modelNumber !== null && name !== null && dimensions !== null;
      return {
        number,
        id,
        isExpired: isExpired === 1,
        model: isKnown ? { number: modelNumber, name, dimensions } : null,
        languages: languagesIn(languages),
      };
    });
  }

  /** The searched files: ingested and matching the filter. */
  async #findFiles(stores: readonly SearchedStore[], { filter }: SearchScope): Promise<ReadonlyMap<number, FileRow>> {
    const rows = await this.#rows<FileRow>(sql`
      select number, store_number as "storeNumber", chunk_count as chunks, word_count as words,
        model_number as "modelNumber"
      from vector_store_files as files
      where store_number in (${sql.join(stores.map(({ number }) => number))}) and status = 'completed'
        and ${filter === null ? sql`true` : filterSql(filter)}`);
    return new Map(rows.map((row) => [row.number, row]));
  }

  async #load(stores: readonly SearchedStore[], keys: readonly number[]): Promise<readonly FoundChunk[]> {
    const ids = new Map(stores.map(({ number, id }) => [number, id]));
    const chunks: FoundChunk[] = [];
    for (const some of inPortions(keys)) {
      const rows = await this.#rows<ChunkRow>(sql`
        select chunks.key, chunks.text, chunks.first, chunks.last, chunks.headings, chunks.columns, files.store_number as "storeNumber",
          files.file_id as "fileId", files.filename, files.attributes
        from vector_store_chunks as chunks
        join vector_store_files as files on files.number = chunks.key / ${sql.lit(CHUNKS_OF_FILE_MAX)}
        where chunks.key in (${sql.join(some)})`);
      chunks.push(...rows.map((row) => foundChunk(row, ids.get(row.storeNumber) ?? "")));
    }
    return chunks;
  }

  async #rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]> {
    const { rows } = await sql<Row>`${query}`.execute(this.#db);
    return rows;
  }
}

interface ChunkRow {
  readonly key: number;
  readonly text: string;
  readonly first: number;
  readonly last: number;
  readonly headings: string;
  readonly columns: string | null;
  readonly storeNumber: number;
  readonly fileId: string;
  readonly filename: string;
  readonly attributes: string | null;
}

function foundChunk(row: ChunkRow, storeId: string): FoundChunk {
  const { key, text, first: start, last: end, fileId, filename, attributes } = row;
  return {
    key,
    storeId,
    fileId,
    filename,
    attributes: attributes === null ? null : storedJson<FileAttributes>(attributes),
    ordinal: ordinalOfChunk(key),
    text,
    start,
    end,
    headings: storedJson<readonly string[]>(row.headings),
    columns: row.columns,
  };
}

/** The known forms of each word, and the number of chunks with them. */
function countForms(words: ChunkQuestion["words"], known: ReadonlyMap<string, KnownWord>) {
  return words.map((forms) => {
    const knownForms = forms.flatMap((form) => known.get(form) ?? []);
    return { knownForms, chunks: knownForms.reduce((sum, { chunks }) => sum + chunks, 0) };
  });
}

/** The languages of a store's column. */
function languagesIn(column: string | null): readonly string[] {
  return column === null ? [] : column.split(" ").filter(Boolean);
}

function isModel(model: VectorModel | null, other: VectorModel): boolean {
  return model !== null && model.name === other.name && model.dimensions === other.dimensions;
}

/** The models of these stores, each once. */
function modelsOf(stores: readonly SearchedStore[]): readonly NumberedModel[] {
  return [...new Map(stores.flatMap(({ model }) => (model === null ? [] : [[model.number, model]]))).values()];
}

/** The files with vectors in stores that use this model. */
function filesWith(
  model: NumberedModel,
  stores: readonly SearchedStore[],
  files: ReadonlyMap<number, FileRow>,
): readonly FileRow[] {
  const using = new Set(stores.flatMap((store) => (store.model?.number === model.number ? [store.number] : [])));
  return [...files.values()].filter(({ storeNumber, modelNumber }) => using.has(storeNumber) && modelNumber !== null);
}

/** The keys with the highest values. */
function best(keys: readonly number[], valueOf: (key: number) => number, max: number): readonly number[] {
  const values = new Map(keys.map((key) => [key, valueOf(key)]));
  return keys.toSorted((one, other) => (values.get(other) ?? 0) - (values.get(one) ?? 0) || one - other).slice(0, max);
}

function* inPortions(keys: readonly number[]): Generator<readonly number[]> {
  for (let start = 0; start < keys.length; start += KEYS_AT_ONCE_MAX) yield keys.slice(start, start + KEYS_AT_ONCE_MAX);
}
