import type { ShownToolResult } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, sql } from "kysely";
import type { Database } from "../../database/schema.ts";

/** The maximum results read per response, and characters of each. */
const RESULTS_MAX = 64;
const CHARACTERS_MAX = 64 * 1024;

/** Reads ended calls as the model saw them, oldest first. Calls of a turn are ordered by their ids. */
export async function listToolResults(
  db: Kysely<Database>,
  owner: Owner,
  responseId: string,
): Promise<readonly ShownToolResult[]> {
  const rows = await db
    .selectFrom("tool_exchanges")
    .select(["item_id", sql<string>`substr(output, 1, ${sql.lit(CHARACTERS_MAX + 1)})`.as("text")])
    .where("response_id", "=", responseId)
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project)
    .where("output", "is not", null)
    .orderBy("turn")
    .orderBy("item_id")
    .limit(RESULTS_MAX)
    .execute();
  return rows.map(({ item_id, text }) => ({
    item_id,
    text: text.slice(0, CHARACTERS_MAX),
    is_truncated: text.length > CHARACTERS_MAX,
  }));
}
