import type { RunKind } from "@antiphon/contracts/responses-api/types.ts";
import type { ResponseFilter } from "@antiphon/domain/inspection.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from "kysely";
import { dialectal, hasText } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { isId } from "../../database/time-first.ts";

/** The number of characters of an item that are searched. */
const SEARCHED_CHARACTERS = 16 * 1024;

type Responses = ExpressionBuilder<Database, "responses">;

/** Whether responses are also limited to those after a place, and to those before one. */
export interface PlacedSides {
  readonly isAfter: boolean;
  readonly isBefore: boolean;
}

/**
 * Whether a response belongs to this owner, is within the time of the filter, and continues the filter's response. An
 * index in list order answers it: the index by owner, or the index by continued response. SQLite uses one limit per
 * side in an index: a place is closer than the time, so `+` excludes the time from the index. It also excludes the
 * owner if the other index is better.
 */
export function isInReach(
  owner: Owner,
  { createdAfter, createdBefore, previousId }: Pick<ResponseFilter, "createdAfter" | "createdBefore" | "previousId">,
  sides: PlacedSides = { isAfter: false, isBefore: false },
) {
  const creationTime = (isPlaced: boolean) => (isPlaced ? sql`+responses.created_at` : sql`responses.created_at`);
  return (expression: Responses) =>
    expression.and([
      sql<SqlBool>`${ownerColumn("responses.organization", previousId)} = ${owner.organization}`,
      sql<SqlBool>`${ownerColumn("responses.project", previousId)} = ${owner.project}`,
      ...(previousId === null ? [] : [isId("responses.previous_response_id", previousId)]),
      ...(createdAfter === null ? [] : [sql<SqlBool>`${creationTime(sides.isAfter)} >= ${createdAfter}`]),
      ...(createdBefore === null ? [] : [sql<SqlBool>`${creationTime(sides.isBefore)} < ${createdBefore}`]),
    ]);
}

function ownerColumn(column: string, previousId: string | null): RawBuilder<string> {
  const name = sql.ref<string>(column);
  return previousId === null ? name : dialectal(sql<string>`+${name}`, () => name);
}

/** The remaining conditions of the filter. */
export function fits(filter: ResponseFilter) {
  return (expression: Responses) =>
    expression.and([
      ...(filter.statuses === null ? [] : [expression("responses.status", "in", filter.statuses)]),
      ...(filter.model === null ? [] : [expression("responses.model", "=", filter.model)]),
      ...(filter.keyId === null ? [] : [expression("responses.key_id", "=", filter.keyId)]),
      ...(filter.conversationId === null ? [] : [expression("responses.conversation_id", "=", filter.conversationId)]),
      ...(filter.kind === null ? [] : [sql<SqlBool>`${KIND} = ${filter.kind}`]),
      ...(filter.isBackground === null ? [] : [hasBackground(filter.isBackground)]),
      ...Object.entries(filter.metadata).map(([name, value]) => hasPair(name, value)),
      ...filter.words.map(hasWord),
      ...(filter.askedForBy === null ? [] : [expression("responses.face", "=", filter.askedForBy), IS_ASKED_FOR]),
    ]);
}

/** Whether the filter has conditions that no index answers. */
export function hasMore(filter: ResponseFilter): boolean {
  const { statuses, model, kind, isBackground, metadata, keyId, conversationId, words, askedForBy } = filter;
  const single = [statuses, model, kind, isBackground, keyId, conversationId, askedForBy];
  return single.some((value) => value !== null) || words.length > 0 || Object.keys(metadata).length > 0;
}

const IS_ASKED_FOR: RawBuilder<SqlBool> = hasText("responses.face_notes", sql.lit('"isAskedFor":true'));

/** Responses of earlier releases have no kind. */
export const KIND: RawBuilder<RunKind> = sql<RunKind>`coalesce(responses.kind,
  case when ${hasText("responses.body", sql.lit('"background":true'))} then 'background'
    when responses.streamed = 1 then 'streamed' else 'plain' end)`;

function hasBackground(isBackground: boolean): RawBuilder<SqlBool> {
  return isBackground ? sql<SqlBool>`${KIND} = 'background'` : sql<SqlBool>`${KIND} <> 'background'`;
}

/** A pair in the JSON of metadata. Quotes within a text are escaped, so it matches nothing else. */
function hasPair(name: string, value: string): RawBuilder<SqlBool> {
  const pair = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return sql<SqlBool>`(${hasText("responses.metadata", sql.val(pair))}
    or (responses.metadata is null and ${hasText("responses.body", sql.val(pair))}))`;
}

/** Whether an item contains the word in its JSON form. */
function hasWord(word: string): RawBuilder<SqlBool> {
  const json = JSON.stringify(word).slice(1, -1);
  const pattern = `%${json.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  const text = sql`substr(items.body, 1, ${sql.lit(SEARCHED_CHARACTERS)})`;
  const isLike = dialectal<SqlBool>(
    sql<SqlBool>`${text} like ${pattern} escape '\\'`,
    () => sql<SqlBool>`${text} ilike ${pattern} escape '\\'`,
  );
  // With an offset, PostgreSQL reads the items of each response instead of all items first.
  return sql<SqlBool>`exists (
    select 1 from items where items.response_number = responses.number and ${isLike} limit 1 offset 0)`;
}
