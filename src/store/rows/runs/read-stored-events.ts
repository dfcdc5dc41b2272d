import { type Kysely, sql } from "kysely";
import type { RecordedEvent } from "../../../runs/recorded-event.ts";
import { builtOnce, type StandIns } from "../../database/built-once.ts";
import { hasText } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { isId } from "../../database/time-first.ts";
import { readEventLines } from "../events/event-block.ts";
import { readJournal } from "../events/journal.ts";
import { RESPONSE_LINE } from "../events/response-line.ts";
import type { Chunk } from "../events/run-tail.ts";
import { findNextNumber, LIVE_STATUSES, numberOf } from "./run-rows.ts";

/** The number of chunks that one query reads and a reader has in memory. */
const PAGE_CHUNKS = 16;

/**
 * Reads the chunks of a run page by page, then its tail, which is taken before the first page. The chunks reach at
 * least to the start of the tail, so there is no gap; events that became a chunk in between are skipped by their
 * numbers. If the response is deleted, reading ends.
 */
export async function* readStoredEvents(
  db: Kysely<Database>,
  responseId: string,
  after: number,
  tail: Chunk | null,
): AsyncGenerator<readonly RecordedEvent[], void> {
  let cursor = after;
  let mayHaveMore = true;
  while (mayHaveMore) {
    const { rows: chunks } = await findChunks(db, { responseId, cursor });
    for (const chunk of chunks) {
      yield readEventLines(chunk.body, chunk.first_number, cursor, chunk.responseBody ?? "");
      cursor = chunk.last_number;
    }
    mayHaveMore = chunks.length === PAGE_CHUNKS;
  }
  if (tail !== null && tail.lastNumber > cursor) yield readEventLines(tail.body, tail.firstNumber, cursor, "");
}

/** The stored response of a chunk; null if no event of the chunk needs it. */
const RESPONSE_BODY = sql<string | null>`
  case when ${hasText("event_chunks.body", sql.lit(RESPONSE_LINE))}
    then (select responses.body from responses where responses.number = event_chunks.response_number) end`;

const findChunks = builtOnce(
  (db: Kysely<Database>, params: StandIns<{ readonly responseId: string; readonly cursor: number }>) =>
    db
      .selectFrom("event_chunks")
      .select(["first_number", "last_number", "body"])
      .select(RESPONSE_BODY.as("responseBody"))
      .where("response_number", "=", numberOf(db, params.id("responseId")))
      .where("last_number", ">", params.value("cursor"))
      .orderBy("last_number")
      .limit(PAGE_CHUNKS)
      .compile(),
);

/** The newest events of another worker's run, from that worker's journal. */
export async function findForeignTail(db: Kysely<Database>, responseId: string): Promise<Chunk | null> {
  const rows = await db
    .selectFrom("event_journal")
    .innerJoin("responses", "responses.worker", "event_journal.worker")
    .select("event_journal.body")
    .where(isId("responses.id", responseId))
    .where("responses.status", "in", LIVE_STATUSES)
    .where(hasText("event_journal.body", responseId))
    .orderBy("event_journal.position")
    .execute();
  const entries = rows.flatMap(({ body }) => readJournal(body)).filter((entry) => entry.responseId === responseId);
  const next = entries.length === 0 ? 0 : await findNextNumber(db, responseId);
  const missing = entries.filter(({ firstNumber }) => firstNumber >= next);
  const first = missing[0];
  const last = missing.at(-1);
  if (first === undefined || last === undefined) return null;
  const body = missing.map((entry) => entry.body).join("\n");
  return { firstNumber: first.firstNumber, lastNumber: last.lastNumber, body };
}
