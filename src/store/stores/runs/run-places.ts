import type { Kysely } from "kysely";
import type { JournalPage, RunPlace, RunPlaces } from "../../../runs/reading/neighbours.ts";
import type { Database } from "../../database/schema.ts";
import { isOneOf } from "../../database/time-first.ts";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { readEventLines } from "../../rows/events/event-block.ts";
import { readJournal } from "../../rows/events/journal.ts";
import { LIVE_STATUSES } from "../../rows/runs/run-rows.ts";
import type { OtherRedoLogs } from "./other-redo-logs.ts";

/** The maximum journal rows per query. Each is one commit. */
const PAGE_ROWS = 64;

/** The database's record of which worker makes which run, and of other workers' recent events. */
export class StoredRunPlaces implements RunPlaces {
  readonly #db: Kysely<Database>;
  readonly #calls: Pick<DatabaseCalls, "workerNumber">;
  readonly #others: OtherRedoLogs | null;

  /** `others`: the redo logs of the other processes; null if there are none. */
  constructor(db: Kysely<Database>, calls: Pick<DatabaseCalls, "workerNumber">, others: OtherRedoLogs | null) {
    this.#db = db;
    this.#calls = calls;
    this.#others = others;
  }

  ownWorker(): Promise<number> {
    return this.#calls.workerNumber();
  }

  async settle(): Promise<void> {
    await this.#others?.settle();
  }

  async find(responseIds: readonly string[]): Promise<readonly RunPlace[]> {
    if (responseIds.length === 0) return [];
    const rows = await this.#db
      .selectFrom("responses")
      .select(["id", "worker", "status"])
      .select((expression) =>
        expression
          .selectFrom("event_chunks")
          .select((chunk) => chunk.fn.max("last_number").as("last"))
          .whereRef("event_chunks.response_number", "=", "responses.number")
          .as("chunkedTo"),
      )
      .where(isOneOf("responses.id", responseIds))
      .execute();
    return rows.map(({ id, worker, status, chunkedTo }) => {
      const isOver = !LIVE_STATUSES.includes(status);
      return { responseId: id, worker: isOver ? null : worker, isOver, chunkedTo: chunkedTo ?? -1 };
    });
  }

  async *readJournal(
    worker: number,
    position: number,
    responseIds: ReadonlySet<string>,
  ): AsyncGenerator<JournalPage, void> {
    let at = position;
    let mayHaveMore = true;
    while (mayHaveMore) {
      const rows = await this.#db
        .selectFrom("event_journal")
        .select(["position", "body"])
        .where("worker", "=", worker)
        .where("position", ">", at)
        .orderBy("position")
        .limit(PAGE_ROWS)
        .execute();
      at = rows.at(-1)?.position ?? at;
      const entries = rows
        .flatMap(({ body }) => readJournal(body))
        .filter((entry) => responseIds.has(entry.responseId));
      const runs = entries.map(({ responseId, firstNumber, body }) => {
        return { responseId, events: readEventLines(body, firstNumber, firstNumber - 1, "") };
      });
      if (rows.length > 0) yield { position: at, runs };
      mayHaveMore = rows.length === PAGE_ROWS;
    }
  }
}
