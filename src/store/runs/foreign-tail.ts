import { type Kysely, sql } from "kysely";
import type { Database } from "../database/schema.ts";
import { readJournal } from "./journal.ts";
import { findNextNumber, LIVE_STATUSES } from "./run-rows.ts";
import type { RunTail } from "./run-tail.ts";

/** The newest events of a run that another worker makes: they lie in its journal. */
export async function findForeignTail(db: Kysely<Database>, responseId: string): Promise<RunTail | null> {
  const rows = await db
    .selectFrom("event_journal")
    .innerJoin("responses", "responses.worker", "event_journal.worker")
    .select("event_journal.body")
    .where("responses.id", "=", responseId)
    .where("responses.status", "in", LIVE_STATUSES)
    .where(sql`instr(event_journal.body, ${responseId})`, ">", 0)
    .orderBy("event_journal.position")
    .execute();
  const entries = rows.flatMap(({ body }) => readJournal(body)).filter((entry) => entry.responseId === responseId);
  const next = entries.length === 0 ? 0 : await findNextNumber(db, responseId);
  const missing = entries.filter(({ firstNumber }) => firstNumber >= next);
  const [first, last] = [missing[0], missing.at(-1)];
  if (first === undefined || last === undefined) return null;
  const body = missing.map((entry) => entry.body).join("\n");
  return { firstNumber: first.firstNumber, nextNumber: last.lastNumber + 1, body };
}
