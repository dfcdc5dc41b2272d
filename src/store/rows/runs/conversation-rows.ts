import { assertNever } from "@antiphon/base/assert.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, sql } from "kysely";
import { builtOnce, type StandIns } from "../../database/built-once.ts";
import type { RowInserter } from "../../database/row-inserter.ts";
import type { Database } from "../../database/schema.ts";
import { wholeText } from "../../database/stored-text.ts";
import { isId } from "../../database/time-first.ts";
import type { ConversationChange, ConversationOutcome, PlannedChange } from "../items/conversation-changes.ts";
import type { ItemText } from "../items/item-text.ts";
import { callIdOf, storedItem } from "../items/stored-item.ts";
import type { CommitPlan } from "./commit-plan.ts";
import { LIVE_STATUSES, numberOf } from "./run-rows.ts";

/** A transaction and the worker that writes in it. */
export interface ConversationWriter {
  readonly db: Kysely<Database>;
  readonly inserter: RowInserter;
  readonly worker: number;
}

/** Applies the changes in order; each sees the previous ones. Returns the outcomes by job. */
export async function changeConversations(
  writer: ConversationWriter,
  changes: readonly PlannedChange[],
): Promise<ReadonlyMap<number, ConversationOutcome>> {
  const outcomes = new Map<number, ConversationOutcome>();
  for (const change of changes) outcomes.set(change.job, await makeChange(writer, change));
  return outcomes;
}

/** Records how much of their conversations new responses see. They have the locks on these conversations. */
export async function noteConversations(db: Kysely<Database>, responses: CommitPlan["inConversations"]): Promise<void> {
  for (const { responseId, conversationId } of responses) {
    await noteConversation(db, { responseId, conversationId });
  }
}

/** A response and the conversation that it was made in. */
type Place = { readonly responseId: string; readonly conversationId: string };

const noteConversation = builtOnce((db: Kysely<Database>, params: StandIns<Place>) =>
  db
    .updateTable("responses")
    .set((expression) => ({
      conversation_id: params.value("conversationId"),
      conversation_seen: expression
        .selectFrom("conversation_items")
        .select(sql<number>`coalesce(max(sequence), 0)`.as("seen"))
        .where("conversation_id", "=", params.value("conversationId")),
    }))
    .where(isId("responses.id", params.id("responseId")))
    .compile(),
);

async function makeChange(writer: ConversationWriter, change: ConversationChange): Promise<ConversationOutcome> {
  const { db } = writer;
  const { conversationId, step } = change;
  switch (step.type) {
    case "create":
      return createConversation(writer, change, step);
    case "replace_metadata":
      return replaceMetadata(db, change, step.metadata);
    case "add_items":
      return addItems(writer, change, step.items);
    case "delete_item":
      return deleteItem(db, change, step.itemId);
    case "delete":
      return deleteConversation(db, change);
    case "lock":
      return lock(writer, change, step.responseId);
    case "unlock":
      await unlock(db, { conversationId, responseId: step.responseId });
      return "written";
    case "add_response":
      await addResponse(db, { ...change.owner, conversationId, responseId: step.responseId });
      await unlock(db, { conversationId, responseId: step.responseId });
      return "written";
    default:
      return assertNever(step);
  }
}

async function createConversation(
  { db, inserter }: ConversationWriter,
  { owner, conversationId }: ConversationChange,
  step: { readonly createdAt: number; readonly metadata: string; readonly items: readonly ItemText[] },
): Promise<ConversationOutcome> {
  await db
    .insertInto("conversations")
    .values({
      id: conversationId,
      organization: owner.organization,
      project: owner.project,
      created_at: step.createdAt,
      metadata: step.metadata,
    })
    .execute();
  await insertItems({ db, inserter }, owner, conversationId, step.items);
  return "written";
}

async function replaceMetadata(
  db: Kysely<Database>,
  { owner, conversationId }: ConversationChange,
  metadata: string,
): Promise<ConversationOutcome> {
  const { numUpdatedRows } = await db
    .updateTable("conversations")
    .set({ metadata })
    .where("id", "=", conversationId)
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 0n ? { reason: "unknown" } : "written";
}

async function addItems(
  { db, inserter }: ConversationWriter,
  { owner, conversationId }: ConversationChange,
  items: readonly ItemText[],
): Promise<ConversationOutcome> {
  const refusal = await findRefusal(db, owner, conversationId);
  if (refusal !== null) return refusal;
  const duplicate = await db
    .selectFrom("conversation_items")
    .select("id")
    .where("conversation_id", "=", conversationId)
    .where(
      "id",
      "in",
      items.map(({ id }) => id),
    )
    .executeTakeFirst();
  if (duplicate !== undefined) return { reason: "duplicate_item", itemId: duplicate.id };
  await insertItems({ db, inserter }, owner, conversationId, items);
  return "written";
}

async function deleteItem(
  db: Kysely<Database>,
  { owner, conversationId }: ConversationChange,
  itemId: string,
): Promise<ConversationOutcome> {
  const refusal = await findRefusal(db, owner, conversationId);
  if (refusal?.reason === "unknown") return refusal;
  const item = db
    .selectFrom("conversation_items")
    .select(["sequence", "body"])
    .where("conversation_id", "=", conversationId)
    .where("id", "=", itemId);
  const row = await item.executeTakeFirst();
  if (row === undefined) return { reason: "unknown_item" };
  if (refusal !== null) return refusal;
  await db.deleteFrom("conversation_items").where("sequence", "=", row.sequence).execute();
  await noteSplitCall(db, conversationId, row.body);
  return "written";
}

/** Records a call that lost one half, so that the other half does not count as a call without its output. */
async function noteSplitCall(db: Kysely<Database>, conversationId: string, body: string): Promise<void> {
  const callId = callIdOf(storedItem(body));
  if (callId === null) return;
  await db
    .insertInto("split_calls")
    .values({ conversation_id: conversationId, call_id: callId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function deleteConversation(
  db: Kysely<Database>,
  { owner, conversationId }: ConversationChange,
): Promise<ConversationOutcome> {
  const refusal = await findRefusal(db, owner, conversationId);
  if (refusal !== null) return refusal;
  await db.deleteFrom("conversations").where("id", "=", conversationId).execute();
  await db.insertInto("deleted_conversations").values({ id: conversationId }).execute();
  await db.deleteFrom("conversation_locks").where("conversation_id", "=", conversationId).execute();
  return "written";
}

async function lock(
  { db, worker }: ConversationWriter,
  { owner, conversationId }: ConversationChange,
  responseId: string,
): Promise<ConversationOutcome> {
  const refusal = await findRefusal(db, owner, conversationId);
  if (refusal !== null) return refusal;
  await addLock(db, { conversationId, responseId, worker });
  return "written";
}

const addLock = builtOnce((db: Kysely<Database>, params: StandIns<Place & { readonly worker: number }>) =>
  db
    .insertInto("conversation_locks")
    .values({
      conversation_id: params.value("conversationId"),
      response_id: params.value("responseId"),
      worker: params.value("worker"),
    })
    .onConflict((conflict) =>
      conflict
        .column("conversation_id")
        .doUpdateSet({ response_id: params.value("responseId"), worker: params.value("worker") }),
    )
    .compile(),
);

const unlock = builtOnce((db: Kysely<Database>, params: StandIns<Place>) =>
  db
    .deleteFrom("conversation_locks")
    .where("conversation_id", "=", params.value("conversationId"))
    .where("response_id", "=", params.value("responseId"))
    .compile(),
);

/** Copies the stored items of the response into the conversation, input first. */
const addResponse = builtOnce((db: Kysely<Database>, params: StandIns<Place & Owner>) =>
  db
    .insertInto("conversation_items")
    .columns(["conversation_id", "id", "organization", "project", "body"])
    .expression((query) =>
      query
        .selectFrom("items")
        .innerJoin("conversations", (join) => join.on("conversations.id", "=", params.value("conversationId")))
        .select([
          "conversations.id as conversation_id",
          "items.id",
          "items.organization",
          "items.project",
          "items.body",
        ])
        .where("items.response_number", "=", numberOf(db, params.id("responseId")))
        .where("conversations.organization", "=", params.value("organization"))
        .where("conversations.project", "=", params.value("project"))
        .orderBy("items.direction") // `input` sorts before `output`.
        .orderBy("items.position"),
    )
    // The input was already checked against the history. This keeps one run's mistake from failing the whole commit.
    .onConflict((conflict) => conflict.doNothing())
    .compile(),
);

/** Why the items of a conversation may not change now. */
async function findRefusal(db: Kysely<Database>, owner: Owner, conversationId: string) {
  const { rows } = await findLock(db, { conversationId, ...owner });
  const [row] = rows;
  if (row === undefined) return { reason: "unknown" } as const;
  const { holder, worker } = row;
  if (holder === null || worker === null) return null;
  return (await isHeld(db, holder, worker)) ? ({ reason: "locked" } as const) : null;
}

const findLock = builtOnce((db: Kysely<Database>, params: StandIns<Owner & { readonly conversationId: string }>) =>
  db
    .selectFrom("conversations")
    .leftJoin("conversation_locks", "conversation_locks.conversation_id", "conversations.id")
    .select(["conversation_locks.response_id as holder", "conversation_locks.worker"])
    .where("conversations.id", "=", params.value("conversationId"))
    .where("conversations.organization", "=", params.value("organization"))
    .where("conversations.project", "=", params.value("project"))
    .compile(),
);

/** An unstored response locks its conversation while its worker lives. A stored response locks it until it ends. */
async function isHeld(db: Kysely<Database>, responseId: string, worker: number): Promise<boolean> {
  const response = await db
    .selectFrom("responses")
    .select("status")
    .where(isId("responses.id", responseId))
    .executeTakeFirst();
  if (response !== undefined) return LIVE_STATUSES.includes(response.status);
  const living = await db.selectFrom("workers").select("id").where("id", "=", worker).executeTakeFirst();
  return living !== undefined;
}

/** A response and its locked conversation. */
export type Holder = CommitPlan["inConversations"][number];

/**
 * The responses whose worker has lost their lock since it took it. Others may have changed those conversations
 * meanwhile.
 */
export async function findUnheld(
  db: Kysely<Database>,
  worker: number,
  holders: readonly Holder[],
): Promise<ReadonlySet<string>> {
  const unheld = new Set<string>();
  for (const { responseId, conversationId } of holders) {
    const { rows } = await findOwnLock(db, { conversationId, responseId, worker });
    if (rows.length === 0) unheld.add(responseId);
  }
  return unheld;
}

const findOwnLock = builtOnce((db: Kysely<Database>, params: StandIns<Holder & { readonly worker: number }>) =>
  db
    .selectFrom("conversation_locks")
    .select("worker")
    .where("conversation_id", "=", params.value("conversationId"))
    .where("response_id", "=", params.value("responseId"))
    .where("worker", "=", params.value("worker"))
    .compile(),
);

async function insertItems(
  { db, inserter }: Pick<ConversationWriter, "db" | "inserter">,
  owner: Owner,
  conversationId: string,
  items: readonly ItemText[],
): Promise<void> {
  const rows = items.map(({ id, body }) => ({
    conversation_id: conversationId,
    id,
    organization: owner.organization,
    project: owner.project,
    body: wholeText(body),
  }));
  await inserter.insert(db, "conversation_items", rows);
}
