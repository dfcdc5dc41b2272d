import { type Kysely, type RawBuilder, sql } from "kysely";
import type { StaleChunks, VectorModel, VectorRenewal } from "../../vector-stores/ports.ts";
import type { Database } from "../database/schema.ts";
import type { DatabaseCalls } from "../thread/database-calls.ts";
import { CHUNKS_OF_FILE_MAX } from "./chunk-keys.ts";
import { compileAll } from "./compile-all.ts";
import { blobOf, modelNumber } from "./vector-models.ts";

/** How many vectors of other models one step erases. */
const ERASED_TOGETHER_MAX = 500;

/** Replaces the vectors of stores, in the database. */
export class StoredVectorRenewal implements VectorRenewal {
  readonly #db: Kysely<Database>;
  readonly #calls: Pick<DatabaseCalls, "transact">;

  constructor(db: Kysely<Database>, calls: Pick<DatabaseCalls, "transact">) {
    this.#db = db;
    this.#calls = calls;
  }

  async findStale(model: VectorModel, count: number): Promise<StaleChunks | null> {
    const number = await modelNumber(this.#db, model);
    const store = await this.#db
      .selectFrom("vector_stores")
      .select(["number", "id"])
      .where("is_expired", "=", 0)
      .where((row) => row.or([row("model_number", "is", null), row("model_number", "!=", number)]))
      .where(sql<boolean>`exists (select 1 from vector_store_files
        where store_number = vector_stores.number and status = 'completed')`)
      .orderBy("number")
      .limit(1)
      .executeTakeFirst();
    if (store === undefined) return null;
    const { rows } = await sql<{ key: number; text: string }>`
      select chunks.key, chunks.text
      from vector_store_files as files
      join vector_store_chunks as chunks on chunks.key >= files.number * ${CHUNKS_OF_FILE_MAX}
        and chunks.key < (files.number + 1) * ${CHUNKS_OF_FILE_MAX}
      where files.store_number = ${store.number} and files.status = 'completed'
        and not exists (select 1 from vector_store_vectors as vectors
          where vectors.model_number = ${number} and vectors.key = chunks.key)
      limit ${count}`.execute(this.#db);
    return { storeId: store.id, chunks: rows };
  }

  async addVectors(
    model: VectorModel,
    vectors: readonly { readonly key: number; readonly vector: Float32Array }[],
  ): Promise<void> {
    const number = await modelNumber(this.#db, model);
    // The chunk may have been erased meanwhile.
    const added = vectors.map(
      ({ key, vector }) => sql`insert or ignore into vector_store_vectors (model_number, key, vector)
        select ${number}, ${key}, ${blobOf(vector)} from vector_store_chunks where key = ${key}`,
    );
    await this.#transact([sql`update vector_models set name = name where number = ${number}`, ...added]);
  }

  async switchTo(storeId: string, model: VectorModel): Promise<void> {
    const number = await modelNumber(this.#db, model);
    await sql`update vector_stores set model_number = ${number} where id = ${storeId}`.execute(this.#db);
    for (;;) {
      const { numAffectedRows } = await sql`delete from vector_store_vectors where rowid in (
        select vectors.rowid from vector_stores as stores
        join vector_store_files as files on files.store_number = stores.number
        join vector_models as models on models.number <> ${number}
        join vector_store_vectors as vectors on vectors.model_number = models.number
          and vectors.key >= files.number * ${CHUNKS_OF_FILE_MAX}
          and vectors.key < (files.number + 1) * ${CHUNKS_OF_FILE_MAX}
        where stores.id = ${storeId} limit ${ERASED_TOGETHER_MAX})`.execute(this.#db);
      if ((numAffectedRows ?? 0n) === 0n) return;
    }
  }

  #transact(statements: readonly RawBuilder<unknown>[]): Promise<readonly bigint[] | null> {
    return this.#calls.transact(compileAll(this.#db, statements));
  }
}
