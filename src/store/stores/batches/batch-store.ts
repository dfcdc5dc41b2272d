import { newId } from "@antiphon/base/ids.ts";
import type { Batch } from "@antiphon/contracts/responses-api/types.ts";
import {
  BATCH_WINDOW_SECONDS,
  type Batches,
  type BatchStore,
  type NewBatch,
  OPEN_BATCHES_MAX,
} from "@antiphon/domain/batches/batches.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { PageRequest } from "@antiphon/domain/responses.ts";
import type { ListPage } from "@antiphon/domain/vector-stores.ts";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import type { BatchesTable } from "../../database/batch-tables.ts";
import type { Database } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { batchForClients } from "../../rows/batch-rows.ts";
import { secondsNow } from "../vector-stores/store-statements.ts";
import { StoredBatchQueue } from "./batch-queue.ts";
import { StoredLineQueue } from "./line-queue.ts";

type Calls = Pick<DatabaseCalls, "transact" | "workerNumber" | "findDeadWorkers">;

/** The batches of one database. `onNews`: called when webhooks have something to send. */
export function storedBatches(db: Kysely<Database>, calls: Calls, onNews: () => void): BatchStore {
  const queue = new StoredBatchQueue(db, calls, onNews);
  return { batches: new StoredBatches(db, () => queue.tell()), queue, lines: new StoredLineQueue(db, calls) };
}

class StoredBatches implements Batches {
  readonly #db: Kysely<Database>;
  readonly #onWork: () => void;

  /** `onWork`: called when there is something to do for a batch. */
  constructor(db: Kysely<Database>, onWork: () => void) {
    this.#db = db;
    this.#onWork = onWork;
  }

  async create(owner: Owner, batch: NewBatch): Promise<Batch | null> {
    const now = secondsNow();
    const id = newId("batch", now);
    const { organization, project } = owner;
    const { keyId, endpoint, inputFileId, completionWindow, metadata, outputExpiresAfter } = batch;
    const values = [id, organization, project, keyId, now, now + BATCH_WINDOW_SECONDS, endpoint, inputFileId];
    const stored = metadata === null ? null : JSON.stringify(metadata);
    await sql`insert into batches
        (id, organization, project, key_id, created_at, expires_at, endpoint, input_file_id, completion_window, metadata,
         output_expires_after, status, total, completed, failed, input_tokens, cached_tokens, output_tokens,
         reasoning_tokens, is_open, due_at)
      select ${sql.join([...values, completionWindow, stored, outputExpiresAfter])},
        'validating', 0, 0, 0, 0, 0, 0, 0, 1, 0
      where (select count(*) from batches where is_open = 1 and ${isOwnedBy(owner)}) < ${OPEN_BATCHES_MAX}`.execute(
      this.#db,
    );
    this.#onWork();
    return await this.find(owner, id);
  }

  async find(owner: Owner, id: string): Promise<Batch | null> {
    const row = await this.#findRow(owner, id);
    return row === null ? null : batchForClients(row);
  }

  async list(owner: Owner, { limit, order, after }: PageRequest): Promise<ListPage<Batch> | null> {
    const cursor = after === null ? null : await this.#findRow(owner, after);
    if (after !== null && cursor === null) return null;
    const rows = await this.#db
      .selectFrom("batches")
      .selectAll()
      .where(isOwnedBy(owner))
      .$if(cursor !== null, (query) => query.where("number", order === "asc" ? ">" : "<", cursor?.number ?? 0))
      .orderBy("number", order)
      .limit(limit + 1)
      .execute();
    return { entries: rows.slice(0, limit).map(batchForClients), hasMore: rows.length > limit };
  }

  async cancel(owner: Owner, id: string): Promise<Batch | null> {
    await sql`update batches set status = 'cancelling', cancelling_at = ${secondsNow()}
      where id = ${id} and ${isOwnedBy(owner)} and status in ('validating', 'in_progress')`.execute(this.#db);
    this.#onWork();
    return await this.find(owner, id);
  }

  async #findRow(owner: Owner, id: string): Promise<Selectable<BatchesTable> | null> {
    const row = await this.#db
      .selectFrom("batches")
      .selectAll()
      .where("id", "=", id)
      .where(isOwnedBy(owner))
      .executeTakeFirst();
    return row ?? null;
  }
}

function isOwnedBy({ organization, project }: Owner): RawBuilder<boolean> {
  return sql<boolean>`(organization = ${organization} and project = ${project})`;
}
