import { assert } from "@antiphon/base/assert.ts";
import type { FileAttributes, StaticChunking } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { IndexedChunk, VectorModel } from "../../../vector-stores/ports/chunks.ts";
import type { ChunksAdded, IngestEnd, IngestQueue, IngestTask } from "../../../vector-stores/ports/ingest.ts";
import { dialectal, SKIP_LOCKED } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { storedJson } from "../../database/stored-json.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { CHUNKS_OF_FILE_MAX, chunkKey, placedWord } from "../../search/chunk-keys.ts";
import { postgresChunkRows, postgresWordRows } from "../../search/postgres/chunk-rows.ts";
import { findLivingWorkers } from "../living-workers.ts";
import { compileAll } from "./compile-all.ts";
import { OwnerTurns } from "./owner-turns.ts";
import { secondsNow } from "./store-statements.ts";
import { eraseChunks } from "./store-upkeep.ts";
import { modelNumber, vectorRows } from "./vector-models.ts";
import { switchStore } from "./vector-renewal.ts";

/** A file with this many unfinished attempts fails: it may be crashing its processes. */
const ATTEMPTS_MAX = 5;
const ATTEMPTS_FAILED = `The server began ${ATTEMPTS_MAX} times to take in this file and could not finish.`;

/**
 * The maximum attempts to claim a file while other processes claim them first; then this process checks again later.
 */
const CLAIM_TRIES_MAX = 100;

/** The number of 4 KiB pages that each step writes, with other writes in between. */
const MERGED_PAGES = 8;
/** Some chunks fill about ten pages, each of which is merged a few times. */
const MERGES_MAX = 4;

type Calls = Pick<DatabaseCalls, "transact" | "workerNumber" | "findDeadWorkers">;

export interface IngestOptions {
  /** The maximum bytes of the vector stores of one owner; 0 for no limit. */
  readonly ownerBytesMax: number;
  /** Whether the index of words must be merged here. PostgreSQL merges its index by itself. */
  readonly mergesWords: boolean;
}

interface ClaimedRow {
  readonly number: number;
  readonly organization: string;
  readonly project: string;
  readonly file_id: string;
  readonly attributes: string | null;
  readonly chunking: string;
  readonly attempts: number;
  readonly store_number: number;
  readonly store_id: string;
}

/** The queue in the database. The row of a file names the worker that ingests it; only this worker may write. */
export class StoredIngestQueue implements IngestQueue {
  readonly #db: Kysely<Database>;
  readonly #calls: Calls;
  readonly #ownerBytesMax: number;
  readonly #mergesWords: boolean;
  readonly #turns = new OwnerTurns();

  constructor(db: Kysely<Database>, calls: Calls, { ownerBytesMax, mergesWords }: IngestOptions) {
    this.#db = db;
    this.#calls = calls;
    this.#ownerBytesMax = ownerBytesMax;
    this.#mergesWords = mergesWords;
  }

  async claim(): Promise<IngestTask | null> {
    if (!(await this.#hasFiles())) return null; // The usual case. It avoids registering this process as a worker.
    const worker = await this.#calls.workerNumber();
    await this.#releaseDead(worker);
    for (;;) {
      const row = await this.#claimNext(worker);
      if (row === null) return null;
      const task = taskOf(row, worker);
      await eraseChunks(this.#db, this.#calls, row.number); // From an earlier attempt.
      if (row.attempts <= ATTEMPTS_MAX) return task;
      await this.finish(task, { type: "failed", error: { code: "server_error", message: ATTEMPTS_FAILED } });
    }
  }

  async addChunks(task: IngestTask, chunks: readonly IndexedChunk[], model: VectorModel | null): Promise<ChunksAdded> {
    const modelKey = model === null ? null : await modelNumber(this.#db, model);
    const bytes = chunks.reduce((sum, chunk) => sum + chunkBytes(chunk), 0);
    const bytesMax = this.#ownerBytesMax;
    const hasRoom =
      bytesMax === 0
        ? sql`true`
        : sql`(select coalesce(sum(usage_bytes), 0) from vector_store_files
            where organization = ${task.owner.organization} and project = ${task.owner.project}) + ${bytes} <= ${bytesMax}`;
    const wordCount = chunks.reduce((sum, { words }) => sum + words.length, 0);
    const countUpdate = sql`update vector_store_files set usage_bytes = usage_bytes + ${bytes},
        chunk_count = chunk_count + ${chunks.length}, word_count = word_count + ${wordCount},
        model_number = ${modelKey}
      where ${isClaimed(task)} and ${hasRoom}`;
    const languageUpdates = [...new Set(chunks.map(({ language }) => language))].map((language) =>
      languageUpdate(task, language),
    );
    const inserts = [...insertions(task, chunks, modelKey), ...languageUpdates];
    if ((await this.#transact([countUpdate, ...inserts])) !== null) {
      if (this.#mergesWords) await this.#mergeWords();
      return "added";
    }
    const { rows } = await sql`select 1 from vector_store_files where ${isClaimed(task)}`.execute(this.#db);
    return rows.length > 0 ? "full" : "lost";
  }

  async finish(task: IngestTask, end: IngestEnd): Promise<boolean> {
    const error = end.type === "failed" ? JSON.stringify(end.error) : null;
    const statusUpdate = sql`update vector_store_files set status = ${end.type}, worker = null, error = ${error},
        usage_bytes = ${end.type === "failed" ? sql`0` : sql`usage_bytes`}
      where ${isClaimed(task)}`;
    const now = secondsNow();
    const useUpdate = sql`update vector_stores set last_active_at = ${now}
      where id = ${task.storeId} and last_active_at < ${now}`;
    const removal = sql`insert into vector_store_removals (file_number) values (${task.number}) on conflict do nothing`;
    const changes = await this.#transact([statusUpdate, useUpdate, ...(end.type === "failed" ? [removal] : [])]);
    if (changes !== null && end.type === "completed") await this.#useModelOf(task);
    return changes !== null;
  }

  async release(task: IngestTask, why: "stopping" | "fault"): Promise<void> {
    const attempts = why === "stopping" ? sql`case when attempts > 0 then attempts - 1 else 0 end` : sql`attempts`;
    const update = sql`update vector_store_files set worker = null, attempts = ${attempts} where ${isClaimed(task)}`;
    await update.execute(this.#db);
  }

  async count(): Promise<number> {
    const row = await this.#db
      .selectFrom("vector_store_files")
      .select((files) => files.fn.countAll<number>().as("files"))
      .where("status", "=", sql.lit("in_progress"))
      .executeTakeFirstOrThrow();
    return row.files;
  }

  /** Whether a file is waiting or being ingested. Counting all would cost more. */
  async #hasFiles(): Promise<boolean> {
    const row = await this.#db
      .selectFrom("vector_store_files")
      .select("number")
      .where("status", "=", sql.lit("in_progress"))
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** The store uses the model of the file if all of its files have it. */
  async #useModelOf({ number, storeNumber }: IngestTask): Promise<void> {
    const file = await this.#db
      .selectFrom("vector_store_files")
      .innerJoin("vector_stores", "vector_stores.number", "vector_store_files.store_number")
      .select(["vector_store_files.model_number as modelKey", "vector_stores.model_number as used"])
      .where("vector_store_files.number", "=", number)
      .executeTakeFirst();
    if (file === undefined || file.modelKey === null || file.modelKey === file.used) return;
    await switchStore(this.#db, this.#calls, storeNumber, file.modelKey);
  }

  /**
   * Owners alternate: next is the owner whose last file was claimed longest ago by this process. Among an owner's
   * files, the oldest is next.
   */
  async #claimNext(worker: number): Promise<ClaimedRow | null> {
    for (let tries = 0; tries < CLAIM_TRIES_MAX; tries++) {
      const owner = this.#turns.takeNext(await this.#waitingOwners());
      if (owner === null) return null;
      const row = await this.#claimOf(owner, worker);
      if (row !== null) return row; // Otherwise, others were faster.
    }
    return null;
  }

  /** Ordered by their oldest files. */
  async #waitingOwners(): Promise<readonly Owner[]> {
    const { rows } = await sql<Owner>`select organization, project from vector_store_files
      where status = 'in_progress' and worker is null
      group by organization, project order by min(number)`.execute(this.#db);
    return rows;
  }

  async #claimOf({ organization, project }: Owner, worker: number): Promise<ClaimedRow | null> {
    const { rows } = await sql<ClaimedRow>`
      update vector_store_files set worker = ${worker}, attempts = attempts + 1, usage_bytes = 0,
        chunk_count = 0, word_count = 0, model_number = null
      where number = (select number from vector_store_files where status = 'in_progress' and worker is null
        and organization = ${organization} and project = ${project} order by number limit 1 ${SKIP_LOCKED})
      returning number, store_number, organization, project, file_id, attributes, chunking, attempts,
        (select id from vector_stores where vector_stores.number = store_number) as store_id`.execute(this.#db);
    return rows[0] ?? null;
  }

  /** Requeues files claimed by dead workers. */
  async #releaseDead(own: number): Promise<void> {
    const rows = await this.#db
      .selectFrom("vector_store_files")
      .select("worker")
      .distinct()
      .where("status", "=", sql.lit("in_progress"))
      .where("worker", "is not", null)
      .where("worker", "!=", own)
      .execute();
    if (rows.length === 0) return;
    const living = await findLivingWorkers(this.#db, this.#calls);
    for (const { worker } of rows) {
      if (worker === null || living.has(worker)) continue;
      await sql`update vector_store_files set worker = null where status = 'in_progress' and worker = ${worker}`.execute(
        this.#db,
      );
    }
  }

  /** Merges parts of the index of words. By default, FTS5 merges much at once, and all other writes wait. */
  async #mergeWords(): Promise<void> {
    for (let step = 0; step < MERGES_MAX; step++)
      await sql`insert into vector_store_words (vector_store_words, rank) values ('merge', ${sql.lit(MERGED_PAGES)})`.execute(
        this.#db,
      );
  }

  #transact(statements: readonly RawBuilder<unknown>[]): Promise<readonly bigint[] | null> {
    return this.#calls.transact(compileAll(this.#db, statements));
  }
}

function isClaimed({ number, worker }: IngestTask): RawBuilder<unknown> {
  return sql`number = ${number} and worker = ${worker} and status = 'in_progress'`;
}

function taskOf(row: ClaimedRow, worker: number): IngestTask {
  return {
    number: row.number,
    worker,
    storeNumber: row.store_number,
    owner: { organization: row.organization, project: row.project },
    storeId: row.store_id,
    fileId: row.file_id,
    attributes: row.attributes === null ? null : storedJson<FileAttributes>(row.attributes),
    chunking: storedJson<StaticChunking>(row.chunking),
  };
}

/** The counted bytes of a chunk: its text and its vector. The index of its words is not counted. */
function chunkBytes({ text, vector }: IndexedChunk): number {
  return Buffer.byteLength(text) + (vector?.byteLength ?? 0);
}

/** Searches of the store look for words in the forms of this language from now on. */
function languageUpdate({ storeNumber }: IngestTask, language: string): RawBuilder<unknown> {
  return sql`update vector_stores set languages = coalesce(languages || ' ', '') || ${language}
    where number = ${storeNumber} and (languages is null or ' ' || languages || ' ' not like ${`% ${language} %`})`;
}

/** One statement per table, because a statement costs more than a row. */
function insertions(
  { number, storeNumber }: IngestTask,
  chunks: readonly IndexedChunk[],
  modelKey: number | null,
): readonly RawBuilder<unknown>[] {
  for (const { ordinal } of chunks)
    assert(ordinal < CHUNKS_OF_FILE_MAX, "a file has no more chunks than their keys can count");
  const vectors = chunks.flatMap(({ ordinal, vector }) =>
    vector === null ? [] : [{ key: chunkKey(number, ordinal), vector }],
  );
  const inserts = [
    sql`insert into vector_store_chunks (key, text, first, last, headings, word_count, columns)
      ${dialectal(chunkRows(number, chunks), () => postgresChunkRows(number, chunks))}`,
    sql`insert into vector_store_words
      ${dialectal(wordRows(number, storeNumber, chunks), () => postgresWordRows(number, storeNumber, chunks))}`,
  ];
  if (modelKey === null) return inserts;
  return [...inserts, sql`insert into vector_store_vectors ${vectorRows(modelKey, vectors)}`];
}

function chunkRows(fileNumber: number, chunks: readonly IndexedChunk[]): RawBuilder<unknown> {
  const rows = chunks.map(({ ordinal, text, start, end, headings, words, columns }) => [
    chunkKey(fileNumber, ordinal),
    text,
    start,
    end,
    JSON.stringify(headings),
    words.length,
    columns,
  ]);
  return sql`select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
    from json_each(${JSON.stringify(rows)})`;
}

function wordRows(fileNumber: number, storeNumber: number, chunks: readonly IndexedChunk[]): RawBuilder<unknown> {
  const rows = chunks.map(({ ordinal, words }) => [
    chunkKey(fileNumber, ordinal),
    words.map((word) => placedWord(storeNumber, word)).join(" "),
  ]);
  return sql`(rowid, words) select value ->> 0, value ->> 1 from json_each(${JSON.stringify(rows)})`;
}
