import type { Batch, BatchError } from "@antiphon/contracts/responses-api/types.ts";
import type {
  BatchEnding,
  BatchFiles,
  BatchQueue,
  BatchWork,
  HeldBatch,
  InputLine,
  NamedFiles,
  WrittenLine,
} from "@antiphon/domain/batches/batch-work.ts";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import type { BatchesTable } from "../../database/batch-tables.ts";
import { nowMs, SKIP_LOCKED } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { batchEndingOf, heldBatch } from "../../rows/batch-rows.ts";
import { batchNews } from "../../rows/webhook-rows.ts";
import { newFileId } from "../files/file-store.ts";
import { findLivingWorkers } from "../living-workers.ts";
import { compileAll } from "../vector-stores/compile-all.ts";
import { secondsNow } from "../vector-stores/store-statements.ts";

/** The maximum lines that are read at a time for a file, and their characters, if there are several. */
const PAGE_LINES_MAX = 200;
const PAGE_CHARACTERS_MAX = 1024 * 1024;
/** How many lines are removed at a time. */
const REMOVED_TOGETHER_MAX = 500;

type Calls = Pick<DatabaseCalls, "transact" | "workerNumber" | "findDeadWorkers">;

/** The row of a batch names the worker that works on it; only this worker may change it. */
export class StoredBatchQueue implements BatchQueue {
  readonly #db: Kysely<Database>;
  readonly #calls: Calls;
  readonly #onNews: () => void;
  #listener: (() => void) | null = null;

  constructor(db: Kysely<Database>, calls: Calls, onNews: () => void) {
    this.#db = db;
    this.#calls = calls;
    this.#onNews = onNews;
  }

  listen(listener: () => void): void {
    this.#listener = listener;
  }

  /** Says that there may be work. */
  tell(): void {
    this.#listener?.();
  }

  async look(): Promise<number> {
    const { rows } = await sql<{ readonly count: number }>`
      select count(*) as count from batches where is_open = 1`.execute(this.#db);
    const count = rows[0]?.count ?? 0;
    if (count === 0) return 0;
    await this.#releaseDead();
    const now = secondsNow();
    await sql`update batches set status = 'finalizing', finalizing_at = ${now}
      where is_open = 1 and worker is null and (
        (status in ('validating', 'in_progress') and expires_at <= ${now}) or (status = 'in_progress' and not exists
          (select 1 from batch_lines where batch_number = batches.number and state = 'waiting')))`.execute(this.#db);
    return count;
  }

  async claimWork(): Promise<BatchWork | null> {
    const worker = await this.#calls.workerNumber();
    const { rows } = await sql<Selectable<BatchesTable>>`
      update batches set worker = ${worker}
      where number = (select number from batches
        where is_open = 1 and worker is null and due_at <= ${nowMs()} and status <> 'in_progress'
          and (status not in ('cancelling', 'finalizing') or not exists
            (select 1 from batch_lines where batch_number = batches.number and worker is not null))
        order by number limit 1 ${SKIP_LOCKED})
      returning *`.execute(this.#db);
    const [row] = rows;
    if (row === undefined) return null;
    const batch = heldBatch(row, worker);
    if (row.status === "validating") return { type: "check", batch };
    if (row.status !== "cancelling" && row.status !== "finalizing") return { type: "clear", batch };
    return { type: "finish", batch, ending: batchEndingOf(row, !(await this.#hasWaiting(batch))) };
  }

  async releaseWork(batch: HeldBatch, pauseMs: number): Promise<void> {
    await sql`update batches set worker = null, due_at = ${nowMs()} + ${pauseMs} where ${holdsBatch(batch)}`.execute(
      this.#db,
    );
  }

  async releaseOthers(ownBatch: HeldBatch | null): Promise<void> {
    const worker = await this.#calls.workerNumber();
    await this.#db
      .updateTable("batches")
      .set({ worker: null })
      .where("worker", "=", worker)
      .where("number", "<>", ownBatch?.number ?? 0)
      .execute();
  }

  async addLines(batch: HeldBatch, lines: readonly InputLine[]): Promise<boolean> {
    const rows = lines.map(
      ({ line, customId, body }) =>
        sql`(${sql.join([batch.number, line, customId, body])}, 'waiting', null, 0, 0, null)`,
    );
    const changes = await this.#transact([
      sql`update batches set total = total where ${holdsBatch(batch)} and status = 'validating'`,
      sql`insert into batch_lines (batch_number, line, custom_id, body, state, result, attempts, due_at, worker)
        values ${sql.join(rows)}`,
    ]);
    return changes !== null;
  }

  async begin(batch: HeldBatch, total: number, model: string | null): Promise<void> {
    await sql`update batches
      set status = 'in_progress', in_progress_at = ${secondsNow()}, total = ${total}, model = ${model}
      where ${holdsBatch(batch)} and status = 'validating'`.execute(this.#db);
    await this.releaseWork(batch, 0);
  }

  async fail(batch: HeldBatch, errors: readonly BatchError[]): Promise<void> {
    await this.#over(batch, "failed", sql`errors = ${JSON.stringify(errors)}`, sql`status = 'validating'`);
    await this.releaseWork(batch, 0); // It may have been cancelled.
  }

  async nameFiles(batch: HeldBatch): Promise<BatchFiles> {
    const { rows } = await sql<{ readonly output_file_id: string; readonly error_file_id: string }>`
      update batches set output_file_id = coalesce(output_file_id, ${newFileId()}),
        error_file_id = coalesce(error_file_id, ${newFileId()})
      where ${holdsBatch(batch)} returning output_file_id, error_file_id`.execute(this.#db);
    const [row] = rows;
    if (row === undefined) throw new Error("the batch is another worker's");
    return { outputFileId: row.output_file_id, errorFileId: row.error_file_id };
  }

  async linesOf({ number }: HeldBatch, state: "done" | "not done", after: number): Promise<readonly WrittenLine[]> {
    const lines = this.#db
      .selectFrom("batch_lines")
      .where("batch_number", "=", number)
      .where("line", ">", after)
      .where("state", state === "done" ? "=" : "<>", "done")
      .orderBy("line");
    const size = sql<number>`coalesce(length(result), 0)`.as("size");
    const sizes = await lines.select(["line", size]).limit(PAGE_LINES_MAX).execute();
    const last = lastOfPage(sizes);
    if (last === null) return [];
    const rows = await lines.select(["line", "custom_id", "result"]).where("line", "<=", last).execute();
    return rows.map(({ line, custom_id: customId, result }) => ({ line, customId, result }));
  }

  async end(batch: HeldBatch, ending: BatchEnding, { outputFileId, errorFileId }: NamedFiles): Promise<void> {
    const files = sql`output_file_id = ${outputFileId}, error_file_id = ${errorFileId}`;
    await this.#over(batch, ending, files, sql`status in ('cancelling', 'finalizing')`);
  }

  async removeLines({ number }: HeldBatch): Promise<boolean> {
    const { numDeletedRows } = await this.#db
      .deleteFrom("batch_lines")
      .where("batch_number", "=", number)
      .where("line", "in", (lines) =>
        lines
          .selectFrom("batch_lines")
          .select("line")
          .where("batch_number", "=", number)
          .orderBy("line")
          .limit(REMOVED_TOGETHER_MAX),
      )
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  }

  async close(batch: HeldBatch): Promise<void> {
    await this.#transact([
      sql`update batches set is_open = 0, worker = null where ${holdsBatch(batch)}`,
      sql`delete from batch_runs where batch_number = ${batch.number}`,
    ]);
  }

  async unkeptRuns({ number }: HeldBatch): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("batch_runs")
      .select("response_id")
      .where("batch_number", "=", number)
      .where("is_kept", "=", 0)
      .execute();
    return rows.map(({ response_id: id }) => id);
  }

  async #hasWaiting({ number }: HeldBatch): Promise<boolean> {
    const row = await this.#db
      .selectFrom("batch_lines")
      .select("line")
      .where("batch_number", "=", number)
      .where("state", "=", "waiting")
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Gives a batch its last status, and tells the endpoints of webhooks, in one transaction. */
  async #over(
    batch: HeldBatch,
    status: Batch["status"] & (BatchEnding | "failed"),
    changes: RawBuilder<unknown>,
    condition: RawBuilder<unknown>,
  ): Promise<void> {
    const counts = await this.#transact([
      sql`update batches set status = ${status}, ended_at = ${secondsNow()}, worker = null, ${changes}
        where ${holdsBatch(batch)} and ${condition}`,
      batchNews(batch, `batch.${status}`),
    ]);
    if (counts !== null) this.#onNews();
  }

  /** What dead workers were doing is left to others. */
  async #releaseDead(): Promise<void> {
    const { rows } = await sql<{ readonly worker: number }>`
      select distinct worker from batches where worker is not null
      union select distinct worker from batch_lines where worker is not null`.execute(this.#db);
    if (rows.length === 0) return;
    const living = await findLivingWorkers(this.#db, this.#calls);
    for (const { worker } of rows) {
      if (living.has(worker)) continue;
      await this.#db.updateTable("batches").set({ worker: null }).where("worker", "=", worker).execute();
      await this.#db.updateTable("batch_lines").set({ worker: null }).where("worker", "=", worker).execute();
    }
  }

  #transact(statements: readonly RawBuilder<unknown>[]): Promise<readonly bigint[] | null> {
    return this.#calls.transact(compileAll(this.#db, statements));
  }
}

/** The last line of a page that is not too large; null if there are no lines. */
function lastOfPage(sizes: readonly { readonly line: number; readonly size: number }[]): number | null {
  let characters = 0;
  let last: number | null = null;
  for (const { line, size } of sizes) {
    characters += size;
    if (last !== null && characters > PAGE_CHARACTERS_MAX) break;
    last = line;
  }
  return last;
}

function holdsBatch({ number, worker }: HeldBatch): RawBuilder<unknown> {
  return sql`number = ${number} and worker = ${worker}`;
}
