import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, type SqlBool, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import { isId, isSameId } from "../../database/time-first.ts";

/** The same text as the condition of the index of unused ancestors. */
const IS_UNUSED = sql<SqlBool>`ancestors.is_unused = 1`;

/** The columns that an ancestor keeps of its response. */
const KEPT_COLUMNS = [
  "number",
  "id",
  "organization",
  "project",
  "status",
  "previous_response_id",
  "conversation_id",
  "conversation_seen",
] as const;

/**
 * If any response continues a response that is about to be deleted, keeps the data that its chain needs. Returns
 * whether one does.
 */
export async function keepAsAncestor(db: Kysely<Database>, owner: Owner, responseId: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto("ancestors")
    .columns([...KEPT_COLUMNS, "is_unused"])
    .expression((query) =>
      query
        .selectFrom("responses")
        .select([...KEPT_COLUMNS, sql<number>`0`.as("is_unused")])
        .where(isId("responses.id", responseId))
        .where("organization", "=", owner.organization)
        .where("project", "=", owner.project)
        .where(isContinued("responses")),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows > 0n;
}

/**
 * Erases the items of a deleted response. Marks its predecessor as unused if no other response continues it; the sweep
 * erases it later.
 */
export async function forgetItems(db: Kysely<Database>, number: number, previousId: string | null): Promise<void> {
  await db.deleteFrom("items").where("response_number", "=", number).execute();
  if (previousId === null) return;
  await db
    .updateTable("ancestors")
    .set({ is_unused: 1 })
    .where(isId("ancestors.id", previousId))
    .where((expression) => expression.not(isContinued("ancestors")))
    .execute();
}

/** Erases some of the ancestors that no response continues any more. Returns their number. */
export async function eraseAncestors(db: Kysely<Database>, limit: number): Promise<number> {
  const orphans = await db
    .selectFrom("ancestors")
    .select(["number", "previous_response_id as previousId"])
    .where(IS_UNUSED)
    .limit(limit)
    .execute();
  for (const { number, previousId } of orphans) {
    await db.deleteFrom("ancestors").where("number", "=", number).execute();
    await forgetItems(db, number, previousId);
  }
  return orphans.length;
}

/** Whether a response or an ancestor continues a row of this table. */
export function isContinued(table: "responses" | "ancestors") {
  const continues = isSameId("later.previous_response_id", `${table}.id`);
  return sql<SqlBool>`(exists (select 1 from responses as later where ${continues})
    or exists (select 1 from ancestors as later where ${continues}))`;
}
