import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Lists of a response's continuations read an index in list order. */
export const continuedResponses: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const PREVIOUS = "previous_response_id";
const STATEMENTS = [
  `drop index responses_by_previous`,
  `create index responses_by_previous on responses (
    (substr(${PREVIOUS}, -32) || substr(${PREVIOUS}, 1, length(${PREVIOUS}) - 32)), created_at, number)
    where ${PREVIOUS} is not null`,
];
