import { type Kysely, type RawBuilder, sql } from "kysely";
import type { KeyedVector, VectorModel } from "../../../vector-stores/ports/chunks.ts";
import type { StaleChunk, StaleFile, VectorRenewal } from "../../../vector-stores/ports/vectors.ts";
import type { Database } from "../../database/schema.ts";
import { storedJson } from "../../database/stored-json.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { chunkKey } from "../../search/chunk-keys.ts";
import { compileAll } from "./compile-all.ts";
import { modelNumber, vectorRows } from "./vector-models.ts";

/** The number of other models' vectors erased per step. */
const ERASED_TOGETHER_MAX = 500;

type Calls = Pick<DatabaseCalls, "transact">;

/** Replaces the vectors of files, in the database. */
export class StoredVectorRenewal implements VectorRenewal {
  readonly #db: Kysely<Database>;
  readonly #calls: Calls;

  constructor(db: Kysely<Database>, calls: Calls) {
    this.#db = db;
    this.#calls = calls;
  }

  async findStale(name: string, dimensions: number | null, after: number): Promise<StaleFile | null> {
    const isOther =
      dimensions === null
        ? sql`true`
        : sql`models.name is distinct from ${name} or models.dimensions is distinct from ${dimensions}`;
    const { rows } = await sql<StaleFile>`
      select files.number, files.store_number as "storeNumber"
      from vector_store_files as files
      join vector_stores as stores on stores.number = files.store_number and stores.is_expired = 0
      left join vector_models as models on models.number = files.model_number
      where files.number > ${after} and files.status = 'completed' and (${isOther})
      order by files.number limit 1`.execute(this.#db);
    return rows[0] ?? null;
  }

  async readChunks({ number }: StaleFile, model: VectorModel, count: number): Promise<readonly StaleChunk[]> {
    const modelKey = await modelNumber(this.#db, model);
    const { rows } = await sql<{ key: number; text: string; headings: string; columns: string | null }>`
      select key, text, headings, columns from vector_store_chunks as chunks
      where key >= ${chunkKey(number, 0)} and key < ${chunkKey(number + 1, 0)}
        and not exists (select 1 from vector_store_vectors as vectors
          where vectors.model_number = ${modelKey} and vectors.key = chunks.key)
      order by key limit ${count}`.execute(this.#db);
    return rows.map((row) => ({ ...row, headings: storedJson<readonly string[]>(row.headings) }));
  }

  async addVectors({ number }: StaleFile, model: VectorModel, vectors: readonly KeyedVector[]): Promise<boolean> {
    const modelKey = await modelNumber(this.#db, model);
    const isThere = sql`update vector_store_files set status = status where number = ${number} and status = 'completed'`;
    const addition = sql`insert into vector_store_vectors ${vectorRows(modelKey, vectors)} on conflict do nothing`;
    return (await this.#calls.transact(compileAll(this.#db, [isThere, addition]))) !== null;
  }

  async finishFile({ number, storeNumber }: StaleFile, model: VectorModel): Promise<void> {
    const modelKey = await modelNumber(this.#db, model);
    const bytes = model.dimensions * Float32Array.BYTES_PER_ELEMENT;
    await sql`update vector_store_files set model_number = ${modelKey},
        usage_bytes = usage_bytes + chunk_count * (${bytes} - ${Float32Array.BYTES_PER_ELEMENT} * coalesce(
          (select dimensions from vector_models as models where models.number = model_number), 0))
      where number = ${number} and status = 'completed'`.execute(this.#db);
    await switchStore(this.#db, this.#calls, storeNumber, modelKey);
  }

  async switchStores(model: VectorModel): Promise<void> {
    const modelKey = await modelNumber(this.#db, model);
    const stores = await this.#db
      .selectFrom("vector_stores")
      .select("number")
      .where("is_expired", "=", 0)
      .where((row) => row.or([row("model_number", "is", null), row("model_number", "!=", modelKey)]))
      .execute();
    for (const { number } of stores) await switchStore(this.#db, this.#calls, number, modelKey);
  }

  async eraseOld(): Promise<boolean> {
    const { rows } = await sql<{
      number: number;
    }>`select file_number as number from vector_store_leftovers limit 1`.execute(this.#db);
    const [file] = rows;
    if (file === undefined) return false;
    const { numAffectedRows } = await oldVectors(file.number).execute(this.#db);
    if ((numAffectedRows ?? 0n) > 0n) return true;
    await sql`delete from vector_store_leftovers where file_number = ${file.number}`.execute(this.#db);
    return true;
  }
}

/**
 * Lets searches of the store use this model once all of its files have it. The other vectors are then marked for
 * erasure.
 */
export async function switchStore(
  db: Kysely<Database>,
  calls: Calls,
  storeNumber: number,
  modelKey: number,
): Promise<void> {
  const files = sql`from vector_store_files where store_number = ${storeNumber} and status = 'completed'`;
  const modelUpdate = sql`update vector_stores set model_number = ${modelKey}
    where number = ${storeNumber} and model_number is distinct from ${modelKey} and exists (select 1 ${files})
      and not exists (select 1 ${files} and model_number is distinct from ${modelKey})`;
  const leftovers = sql`insert into vector_store_leftovers (file_number) select number ${files}
      and exists (select 1 from vector_models where number <> ${modelKey}) on conflict do nothing`;
  await calls.transact(compileAll(db, [modelUpdate, leftovers]));
}

/** Erases some vectors of a file by models that neither it nor its store uses. */
function oldVectors(fileNumber: number): RawBuilder<unknown> {
  return sql`delete from vector_store_vectors where (model_number, key) in (
    select vectors.model_number, vectors.key from vector_store_files as files
    join vector_stores as stores on stores.number = files.store_number
    join vector_models as models on models.number is distinct from files.model_number
      and models.number is distinct from stores.model_number
    join vector_store_vectors as vectors on vectors.model_number = models.number
      and vectors.key >= ${chunkKey(fileNumber, 0)} and vectors.key < ${chunkKey(fileNumber + 1, 0)}
    where files.number = ${fileNumber} limit ${ERASED_TOGETHER_MAX})`;
}
