import type { Kysely } from "kysely";
import { hasText } from "../database/dialectal.ts";
import type { Database } from "../database/schema.ts";
import { isId } from "../database/time-first.ts";
import { readJournal } from "./journal.ts";
import { findNextNumber, LIVE_STATUSES } from "./run-rows.ts";
import type { Chunk } from "./run-tail.ts";

/** The newest events of a run that another worker makes, from that worker's journal. */
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
  const [first, last] = [missing[0], missing.at(-1)];
  if (first === undefined || last === undefined) return null;
  const body = missing.map((entry) => entry.body).join("\n");
  return { firstNumber: first.firstNumber, lastNumber: last.lastNumber, body };
}
