import type { HeldLine, LineOutcome, LineQueue, LineRun } from "@antiphon/domain/batches/batch-work.ts";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import type { BatchesTable, BatchLinesTable } from "../../database/batch-tables.ts";
import { KEEP_ROWS, nowMs, SKIP_LOCKED } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { compileAll } from "../vector-stores/compile-all.ts";

type Calls = Pick<DatabaseCalls, "transact" | "workerNumber">;

/** The row of a line names the worker that answers it; only this worker may settle it. Batches take turns. */
export class StoredLineQueue implements LineQueue {
  readonly #db: Kysely<Database>;
  readonly #calls: Calls;
  /** The batch of the latest line. */
  #latest = 0;

  constructor(db: Kysely<Database>, calls: Calls) {
    this.#db = db;
    this.#calls = calls;
  }

  async claim(): Promise<HeldLine | null> {
    const worker = await this.#calls.workerNumber();
    for (;;) {
      const batch = await this.#nextBatch();
      if (batch === null) return null;
      this.#latest = batch.number;
      const row = await this.#claimOf(batch.number, worker);
      if (row !== null) return heldLine(batch, row, worker); // Otherwise, others were faster.
    }
  }

  async settle(line: HeldLine, { state, result, usage }: LineOutcome): Promise<boolean> {
    const changes = await this.#transact([
      sql`update batch_lines set state = ${state}, result = ${result}, body = '', worker = null where ${holdsLine(line)}`,
      sql`update batches set completed = completed + ${state === "done" ? 1 : 0},
          failed = failed + ${state === "failed" ? 1 : 0},
          input_tokens = input_tokens + ${usage.inputTokens}, cached_tokens = cached_tokens + ${usage.cachedTokens},
          output_tokens = output_tokens + ${usage.outputTokens},
          reasoning_tokens = reasoning_tokens + ${usage.reasoningTokens}
        where number = ${line.batchNumber}`,
    ]);
    return changes !== null;
  }

  async release(line: HeldLine, pauseMs: number, counts: boolean): Promise<void> {
    await sql`update batch_lines
      set worker = null, due_at = ${nowMs()} + ${pauseMs}, attempts = attempts + ${counts ? 1 : 0}
      where ${holdsLine(line)}`.execute(this.#db);
  }

  async releaseOthers(ownLines: readonly HeldLine[]): Promise<void> {
    const worker = await this.#calls.workerNumber();
    const others = ownLines.map(
      ({ batchNumber, line }) => sql`and not (batch_number = ${batchNumber} and line = ${line})`,
    );
    await sql`update batch_lines set worker = null where worker = ${worker} ${sql.join(others, sql` `)}`.execute(
      this.#db,
    );
  }

  async runsOf({ batchNumber, line }: HeldLine): Promise<readonly LineRun[]> {
    const rows = await this.#db
      .selectFrom("batch_runs")
      .selectAll()
      .where("batch_number", "=", batchNumber)
      .where("line", "=", line)
      .execute();
    return rows.map(({ choice, response_id, is_kept }) => ({ choice, responseId: response_id, isKept: is_kept === 1 }));
  }

  async nameRun(line: HeldLine, { choice, responseId, isKept }: LineRun): Promise<void> {
    const { numAffectedRows } = await sql`
      insert into batch_runs (batch_number, line, choice, response_id, is_kept)
      select batch_number, line, ${sql.join([choice, responseId, isKept ? 1 : 0])}
      from batch_lines where ${holdsLine(line)}
      on conflict (batch_number, line, choice)
        do update set response_id = excluded.response_id, is_kept = excluded.is_kept`.execute(this.#db);
    if (numAffectedRows === 0n) throw new Error("the line of a batch is another worker's");
  }

  async forgetRun(responseId: string): Promise<void> {
    await this.#db.deleteFrom("batch_runs").where("response_id", "=", responseId).execute();
  }

  /** The next batch with a line that is due, after the latest one. */
  async #nextBatch(): Promise<Selectable<BatchesTable> | null> {
    const { rows } = await sql<Selectable<BatchesTable>>`
      select * from batches where is_open = 1 and status = 'in_progress' and exists
        (select 1 from batch_lines where batch_number = batches.number and ${IS_DUE()})
      order by case when number > ${this.#latest} then 0 else 1 end, number limit 1`.execute(this.#db);
    return rows[0] ?? null;
  }

  /** Takes no line of a batch that is being cancelled. */
  async #claimOf(batchNumber: number, worker: number): Promise<Selectable<BatchLinesTable> | null> {
    const { rows } = await sql<Selectable<BatchLinesTable>>`
      with going as (select number from batches where number = ${batchNumber} and status = 'in_progress' ${KEEP_ROWS})
      update batch_lines set worker = ${worker}
      where batch_number in (select number from going) and line = (select line from batch_lines
        where batch_number = ${batchNumber} and ${IS_DUE()} order by line limit 1 ${SKIP_LOCKED})
      returning *`.execute(this.#db);
    return rows[0] ?? null;
  }

  #transact(statements: readonly RawBuilder<unknown>[]): Promise<readonly bigint[] | null> {
    return this.#calls.transact(compileAll(this.#db, statements));
  }
}

const IS_DUE = (): RawBuilder<unknown> => sql`state = 'waiting' and worker is null and due_at <= ${nowMs()}`;

function holdsLine({ batchNumber, line, worker }: HeldLine): RawBuilder<unknown> {
  return sql`batch_number = ${batchNumber} and line = ${line} and worker = ${worker}`;
}

function heldLine(batch: Selectable<BatchesTable>, row: Selectable<BatchLinesTable>, worker: number): HeldLine {
  const { organization, project } = batch;
  return {
    batchNumber: batch.number,
    batchId: batch.id,
    worker,
    owner: { organization, project },
    keyId: batch.key_id,
    endpoint: batch.endpoint,
    line: row.line,
    customId: row.custom_id,
    body: row.body,
    attempts: row.attempts,
  };
}
