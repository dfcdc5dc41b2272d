import type { Kysely } from "kysely";
import type { ResponseStreamEvent } from "../../../generated/responses-api/types.ts";
import { rememberJson } from "../../base/json/json-text.ts";
import type { RecordedEvent } from "../../runs/ports.ts";
import type { Database } from "../database/schema.ts";
import { storedJson } from "../stored-json.ts";
import type { RunTail } from "./run-tail.ts";

/** How many chunks one query reads and a reader holds in memory. */
const PAGE_CHUNKS = 16;

/**
 * Reads the chunks of a run page by page, then its tail, which is taken before the first page. The chunks reach at
 * least to the start of that tail, so there is no gap; events that became a chunk in between are skipped by their
 * numbers. If the response is deleted, reading ends.
 */
export async function* readStoredEvents(
  db: Kysely<Database>,
  responseId: string,
  after: number,
  tail: RunTail | null,
): AsyncGenerator<readonly RecordedEvent[], void> {
  let cursor = after;
  let mayHaveMore = true;
  while (mayHaveMore) {
    const chunks = await db
      .selectFrom("event_chunks")
      .select(["first_number", "last_number", "body"])
      .where("response_id", "=", responseId)
      .where("last_number", ">", cursor)
      .orderBy("last_number")
      .limit(PAGE_CHUNKS)
      .execute();
    for (const chunk of chunks) {
      yield eventsOf(chunk.body, chunk.first_number, cursor);
      cursor = chunk.last_number;
    }
    mayHaveMore = chunks.length === PAGE_CHUNKS;
  }
  if (tail !== null && tail.nextNumber > Math.max(cursor + 1, tail.firstNumber))
    yield eventsOf(tail.body, tail.firstNumber, cursor);
}

function eventsOf(body: string, firstNumber: number, after: number): readonly RecordedEvent[] {
  const skipped = Math.max(0, after + 1 - firstNumber);
  return body
    .split("\n")
    .slice(skipped)
    .map((json, index) => recordedEvent(firstNumber + skipped + index, json));
}

function recordedEvent(number: number, json: string): RecordedEvent {
  const event = storedJson<ResponseStreamEvent>(json);
  return { number, event: rememberJson(event, json), json };
}
