import { assert } from "@antiphon/base/assert.ts";
import { newId } from "@antiphon/base/ids.ts";
import type {
  FileAttributes,
  VectorStore,
  VectorStoreFile,
  VectorStoreFileBatch,
} from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type {
  Added,
  ListPage,
  NewStoreFile,
  NewVectorStore,
  StoreFilePageRequest,
  VectorStoreChange,
  VectorStorePageRequest,
  VectorStoreRefusal,
  VectorStores,
} from "@antiphon/domain/vector-stores.ts";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { chunkKey } from "../../search/chunk-keys.ts";
import { refuseFiles } from "./addable-files.ts";
import { compileAll } from "./compile-all.ts";
import { totalsOfStore, totalsOfStores } from "./file-totals.ts";
import { pageOfFiles, pageOfStores, storesOf } from "./store-pages.ts";
import { addingFiles, expiryAfterUse, SECONDS_A_DAY, secondsNow, touching } from "./store-statements.ts";
import { eraseSome, expireSome } from "./store-upkeep.ts";
import {
  addUp,
  type BatchRow,
  NO_FILES,
  type StoreFileRow,
  type StoreRow,
  shownBatch,
  shownFile,
  shownStore,
} from "./vector-store-rows.ts";

type Calls = Pick<DatabaseCalls, "transact">;

/** Vector stores in the database. Never reads other owners' rows. */
export class StoredVectorStores implements VectorStores {
  readonly #db: Kysely<Database>;
  readonly #calls: Calls;
  readonly #ownerBytesMax: number;
  readonly #onWaiting: () => void;

  /** `onWaiting` is called when files to ingest were added. */
  constructor(
    db: Kysely<Database>,
    calls: Calls,
    { ownerBytesMax, onWaiting }: { readonly ownerBytesMax: number; readonly onWaiting: () => void },
  ) {
    this.#db = db;
    this.#calls = calls;
    this.#ownerBytesMax = ownerBytesMax;
    this.#onWaiting = onWaiting;
  }

  async createStore(
    owner: Owner,
    { name, description, metadata, expiresAfterDays: days }: NewVectorStore,
    files: readonly NewStoreFile[],
  ): Promise<Added<VectorStore>> {
    const refusal = await refuseFiles(this.#db, owner, files, this.#ownerBytesMax);
    if (refusal !== null) return { type: "refused", refusal };
    const now = secondsNow();
    const id = newId("vs", now);
    const values = [id, owner.organization, owner.project, name, description, JSON.stringify(metadata), now, now, days];
    const creation = sql`
      insert into vector_stores (id, organization, project, name, description, metadata, created_at, last_active_at,
        expires_after_days, expires_at)
      values (${sql.join(values)}, ${days === null ? null : now + days * SECONDS_A_DAY})`;
    await this.#transact([creation, ...addingFiles(owner, id, files, null)]);
    if (files.length > 0) this.#onWaiting();
    const store = await this.findStore(owner, id);
    assert(store !== null, "a store that was created is there");
    return { type: "added", result: store };
  }

  async findStore(owner: Owner, storeId: string): Promise<VectorStore | null> {
    const row = await this.#findRow(owner, storeId);
    return row === null ? null : shownStore(row, await totalsOfStore(this.#db, row.number));
  }

  async listStores(owner: Owner, request: VectorStorePageRequest): Promise<ListPage<VectorStore> | null> {
    const page = await pageOfStores(this.#db, owner, request);
    if (page === null) return null;
    const totals = await totalsOfStores(this.#db, page.rows);
    const entries = page.rows.map((row) => shownStore(row, totals.get(row.number) ?? NO_FILES));
    return { entries, hasMore: page.hasMore };
  }

  async changeStore(
    owner: Owner,
    storeId: string,
    { name, metadata, expiresAfterDays: days }: VectorStoreChange,
  ): Promise<VectorStore | null> {
    const now = secondsNow();
    await this.#db
      .updateTable("vector_stores")
      .set({ last_active_at: now })
      .$if(name !== undefined, (query) => query.set({ name: name ?? "" }))
      .$if(metadata !== undefined, (query) => query.set({ metadata: JSON.stringify(metadata) }))
      .$if(days !== undefined, (query) => query.set({ expires_after_days: days ?? null }))
      .set({
        expires_at: days === undefined ? expiryAfterUse(now) : days === null ? null : now + days * SECONDS_A_DAY,
      })
      .where("id", "=", storeId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where("is_expired", "=", 0)
      .execute();
    return await this.findStore(owner, storeId);
  }

  async deleteStore(owner: Owner, storeId: string): Promise<boolean> {
    const row = await this.#findRow(owner, storeId);
    if (row === null) return false;
    const { number } = row;
    const changes = await this.#transact([
      sql`delete from vector_stores where number = ${number}`,
      sql`delete from vector_store_files where store_number = ${number}`,
      sql`delete from vector_store_batches where store_number = ${number}`,
    ]);
    return changes !== null;
  }

  async addFile(owner: Owner, storeId: string, file: NewStoreFile): Promise<Added<VectorStoreFile>> {
    const refusal =
      (await this.#refuseStore(owner, storeId)) ?? (await refuseFiles(this.#db, owner, [file], this.#ownerBytesMax));
    if (refusal !== null) return { type: "refused", refusal };
    await this.#transact([touching(owner, [storeId]), ...addingFiles(owner, storeId, [file], null)]);
    this.#onWaiting();
    const result = await this.findFile(owner, storeId, file.fileId);
    if (result !== null) return { type: "added", result };
    // The store or the file was deleted meanwhile.
    const storeRefusal = (await this.#refuseStore(owner, storeId)) ?? { reason: "unknown_file", fileId: file.fileId };
    return { type: "refused", refusal: storeRefusal };
  }

  async addBatch(owner: Owner, storeId: string, files: readonly NewStoreFile[]): Promise<Added<VectorStoreFileBatch>> {
    const refusal =
      (await this.#refuseStore(owner, storeId)) ?? (await refuseFiles(this.#db, owner, files, this.#ownerBytesMax));
    if (refusal !== null) return { type: "refused", refusal };
    const now = secondsNow();
    const id = newId("vsfb", now);
    const batchInsert = sql`insert into vector_store_batches (id, store_number, created_at)
      select ${id}, number, ${now} from vector_stores where id = ${storeId}`;
    await this.#transact([touching(owner, [storeId]), batchInsert, ...addingFiles(owner, storeId, files, id)]);
    this.#onWaiting();
    const result = await this.findBatch(owner, storeId, id);
    if (result === null) return { type: "refused", refusal: { reason: "unknown_store" } };
    return { type: "added", result };
  }

  async findFile(owner: Owner, storeId: string, fileId: string): Promise<VectorStoreFile | null> {
    const row = await this.#findFileRow(owner, storeId, fileId);
    return row === null ? null : shownFile(row, storeId);
  }

  async listFiles(
    owner: Owner,
    storeId: string,
    request: StoreFilePageRequest,
  ): Promise<ListPage<VectorStoreFile> | null> {
    const store = await this.#findRow(owner, storeId);
    if (store === null) return null;
    const batch = request.batchId === null ? null : await this.#findBatchRow(store.number, request.batchId);
    if (request.batchId !== null && batch === null) return null;
    const page = await pageOfFiles(this.#db, store.number, request, batch?.number ?? null);
    if (page === null) return null;
    return { entries: page.rows.map((row) => shownFile(row, storeId)), hasMore: page.hasMore };
  }

  async changeAttributes(
    owner: Owner,
    storeId: string,
    fileId: string,
    attributes: FileAttributes | null,
  ): Promise<VectorStoreFile | null> {
    const row = await this.#findFileRow(owner, storeId, fileId);
    if (row === null) return null;
    await this.#transact([
      sql`update vector_store_files set attributes = ${attributes === null ? null : JSON.stringify(attributes)}
        where number = ${row.number}`,
      touching(owner, [storeId]),
    ]);
    return await this.findFile(owner, storeId, fileId);
  }

  async removeFile(owner: Owner, storeId: string, fileId: string): Promise<boolean> {
    const row = await this.#findFileRow(owner, storeId, fileId);
    if (row === null) return false;
    const changes = await this.#transact([
      sql`delete from vector_store_files where number = ${row.number}`,
      touching(owner, [storeId]),
    ]);
    return changes !== null;
  }

  async readFile(owner: Owner, storeId: string, fileId: string): Promise<readonly string[] | null> {
    const file = await this.#findFileRow(owner, storeId, fileId);
    if (file === null) return null;
    if (file.status !== "completed") return [];
    const chunks = await this.#db
      .selectFrom("vector_store_chunks")
      .select(["text", "first", "last"])
      .where("key", ">=", chunkKey(file.number, 0))
      .where("key", "<", chunkKey(file.number + 1, 0))
      .orderBy("key")
      .execute();
    let end = 0;
    return chunks.map(({ text, first, last }) => {
      const overlap = Math.max(0, end - first); // Chunks overlap.
      end = Math.max(end, last);
      return text.slice(overlap);
    });
  }

  async findBatch(owner: Owner, storeId: string, batchId: string): Promise<VectorStoreFileBatch | null> {
    const store = await this.#findRow(owner, storeId);
    const batch = store === null ? null : await this.#findBatchRow(store.number, batchId);
    if (batch === null) return null;
    const rows = await this.#db
      .selectFrom("vector_store_files")
      .select([
        "status",
        (row) => row.fn.countAll<number>().as("files"),
        (row) => row.fn.sum<number>("usage_bytes").as("bytes"),
      ])
      .where("batch_number", "=", batch.number)
      .groupBy("status")
      .execute();
    return shownBatch(batch, storeId, addUp(rows).counts);
  }

  async cancelBatch(owner: Owner, storeId: string, batchId: string): Promise<VectorStoreFileBatch | null> {
    const store = await this.#findRow(owner, storeId);
    const batch = store === null ? null : await this.#findBatchRow(store.number, batchId);
    if (batch === null) return null;
    await this.#transact([
      sql`update vector_store_files set status = 'cancelled', worker = null, usage_bytes = 0
        where batch_number = ${batch.number} and status = 'in_progress'`,
      sql`update vector_store_batches set is_cancelled = 1 where number = ${batch.number}`,
      sql`insert into vector_store_removals (file_number)
        select number from vector_store_files where batch_number = ${batch.number} and status = 'cancelled'
        on conflict do nothing`,
    ]);
    return await this.findBatch(owner, storeId, batchId);
  }

  async expireUnused(now: number): Promise<boolean> {
    const hasExpired = await expireSome(this.#db, this.#calls, now);
    const hasErased = await eraseSome(this.#db, this.#calls);
    return hasExpired || hasErased;
  }

  async #findRow(owner: Owner, storeId: string): Promise<StoreRow | null> {
    const row = await storesOf(this.#db, owner).selectAll().where("id", "=", storeId).executeTakeFirst();
    return row ?? null;
  }

  async #findFileRow(owner: Owner, storeId: string, fileId: string): Promise<StoreFileRow | null> {
    const store = await this.#findRow(owner, storeId);
    if (store === null) return null;
    const row = await this.#db
      .selectFrom("vector_store_files")
      .selectAll()
      .where("store_number", "=", store.number)
      .where("file_id", "=", fileId)
      .executeTakeFirst();
    return row ?? null;
  }

  async #findBatchRow(storeNumber: number, batchId: string): Promise<BatchRow | null> {
    const row = await this.#db
      .selectFrom("vector_store_batches")
      .selectAll()
      .where("id", "=", batchId)
      .where("store_number", "=", storeNumber)
      .executeTakeFirst();
    return row ?? null;
  }

  async #refuseStore(owner: Owner, storeId: string): Promise<VectorStoreRefusal | null> {
    const row = await this.#findRow(owner, storeId);
    if (row === null) return { reason: "unknown_store" };
    return row.is_expired === 1 ? { reason: "expired_store" } : null;
  }

  #transact(statements: readonly RawBuilder<unknown>[]): Promise<readonly bigint[] | null> {
    return this.#calls.transact(compileAll(this.#db, statements));
  }
}
