import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "@antiphon/base/assert.ts";
import type { Conversation, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ConversationChanged, ConversationStore } from "@antiphon/domain/conversations.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ConversationItems, ItemPage, PageRequest } from "@antiphon/domain/responses.ts";
import { type Kysely, sql } from "kysely";
import { StoreBusy } from "../../runs/ports/store-faults.ts";
import type { Database } from "../database/schema.ts";
import { storedJson } from "../database/stored-json.ts";
import { ContextBudget } from "../rows/items/context-budget.ts";
import { type ConversationStep, sizeOfStep } from "../rows/items/conversation-changes.ts";
import { WholeConversations } from "../rows/items/conversation-items.ts";
import { firstPage, type ItemPlace, readItems } from "../rows/items/item-places.ts";
import { type ItemText, itemTextsOf } from "../rows/items/item-text.ts";
import { storedItem } from "../rows/items/stored-item.ts";
import type { RunCommits } from "./runs/run-commits.ts";
import type { StoredQuota } from "./storage-quota.ts";

/** The pause before a lock is released again after the database was locked, in milliseconds. */
const UNLOCK_RETRY_MS = 1_000;

/**
 * The conversations in the database. Changes use the same commit queue as the writes of runs. Every query names the
 * owner.
 */
export class StoredConversations implements ConversationStore {
  readonly #db: Kysely<Database>;
  readonly #whole: WholeConversations;
  readonly #commits: RunCommits;
  readonly #quota: StoredQuota;
  readonly #contextBytesMax: number;

  constructor(db: Kysely<Database>, commits: RunCommits, quota: StoredQuota, contextBytesMax: number) {
    this.#db = db;
    this.#whole = new WholeConversations(db);
    this.#commits = commits;
    this.#quota = quota;
    this.#contextBytesMax = contextBytesMax;
  }

  async createConversation(owner: Owner, conversation: Conversation, items: readonly StoredItem[]): Promise<void> {
    const { id, created_at: createdAt, metadata } = conversation;
    const step: ConversationStep = {
      type: "create",
      createdAt,
      metadata: JSON.stringify(metadata),
      items: await textsOf(items),
    };
    const refusal = await this.#quota.writeWithin(owner, sizeOfStep(step), () => this.#change(owner, id, step));
    assert(refusal === null, "a new conversation has nothing to be refused for");
  }

  async findConversation(owner: Owner, conversationId: string): Promise<Conversation | null> {
    const row = await this.#db
      .selectFrom("conversations")
      .select(["id", "created_at", "metadata"])
      .where("id", "=", conversationId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .executeTakeFirst();
    if (row === undefined) return null;
    const metadata = storedJson<Conversation["metadata"]>(row.metadata);
    return { id: row.id, object: "conversation", created_at: row.created_at, metadata };
  }

  replaceMetadata(owner: Owner, conversationId: string, metadata: Conversation["metadata"]): ConversationChanged {
    return this.#change(owner, conversationId, { type: "replace_metadata", metadata: JSON.stringify(metadata) });
  }

  deleteConversation(owner: Owner, conversationId: string): ConversationChanged {
    return this.#change(owner, conversationId, { type: "delete" });
  }

  async addItems(owner: Owner, conversationId: string, items: readonly StoredItem[]): ConversationChanged {
    const step: ConversationStep = { type: "add_items", items: await textsOf(items) };
    return await this.#quota.writeWithin(owner, sizeOfStep(step), () => this.#change(owner, conversationId, step));
  }

  deleteItem(owner: Owner, conversationId: string, itemId: string): ConversationChanged {
    this.#whole.forget(conversationId);
    return this.#change(owner, conversationId, { type: "delete_item", itemId });
  }

  lock(owner: Owner, conversationId: string, responseId: string): ConversationChanged {
    return this.#change(owner, conversationId, { type: "lock", responseId });
  }

  async unlock(owner: Owner, conversationId: string, responseId: string): Promise<void> {
    const step: ConversationStep = { type: "unlock", responseId };
    await this.#change(owner, conversationId, step).catch((error: unknown) => {
      if (!(error instanceof StoreBusy)) throw error;
      // Otherwise, the conversation would stay locked as long as this process lives.
      void this.#unlockLater(owner, conversationId, responseId);
    });
  }

  async #unlockLater(owner: Owner, conversationId: string, responseId: string): Promise<void> {
    await sleep(UNLOCK_RETRY_MS, undefined, { ref: false });
    await this.unlock(owner, conversationId, responseId).catch(() => {}); // The store is closed, or every write fails.
  }

  async findItem(owner: Owner, conversationId: string, itemId: string): Promise<StoredItem | null> {
    const row = await this.#itemsOf(owner, conversationId).select("body").where("id", "=", itemId).executeTakeFirst();
    return row === undefined ? null : storedItem(row.body);
  }

  async listItems(owner: Owner, conversationId: string, page: PageRequest): Promise<ItemPage | null> {
    if ((await this.findConversation(owner, conversationId)) === null) return null;
    const cursor = page.after === null ? null : await this.#findSequence(owner, conversationId, page.after);
    if (page.after !== null && cursor === null) return null;
    const places = await this.#placesOf(owner, conversationId)
      .$if(cursor !== null, (query) => query.where("sequence", page.order === "asc" ? ">" : "<", cursor))
      .orderBy("sequence", page.order)
      .limit(page.limit + 1)
      .execute();
    const pagePlaces = firstPage(places.map(inConversations), page.limit);
    return { items: await readItems(this.#db, pagePlaces), hasMore: places.length > pagePlaces.length };
  }

  async loadItems(owner: Owner, conversationId: string): Promise<ConversationItems | null> {
    if ((await this.findConversation(owner, conversationId)) === null) return null;
    return await this.#whole.load(owner, conversationId, new ContextBudget(this.#contextBytesMax));
  }

  #placesOf(owner: Owner, conversationId: string) {
    // Does not read the bodies.
    return this.#itemsOf(owner, conversationId).select(["sequence", sql<number>`octet_length(body)`.as("bytes")]);
  }

  async #change(owner: Owner, conversationId: string, step: ConversationStep): ConversationChanged {
    const outcome = await this.#commits.add({ type: "conversation", owner, conversationId, step }, "urgent");
    assert(outcome === "written" || typeof outcome === "object", "the change of a conversation is made or refused");
    return outcome === "written" ? null : outcome;
  }

  async #findSequence(owner: Owner, conversationId: string, itemId: string): Promise<number | null> {
    const row = await this.#itemsOf(owner, conversationId)
      .select("sequence")
      .where("id", "=", itemId)
      .executeTakeFirst();
    return row?.sequence ?? null;
  }

  /** The items of an undeleted conversation. Items of a deleted one can only be read by their ids. */
  #itemsOf(owner: Owner, conversationId: string) {
    return this.#db
      .selectFrom("conversation_items")
      .where("conversation_id", "=", conversationId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where((expression) =>
        expression.exists(
          expression
            .selectFrom("conversations")
            .select("conversations.id")
            .where("conversations.id", "=", conversationId),
        ),
      );
  }
}

function inConversations(row: Pick<ItemPlace, "sequence" | "bytes">): ItemPlace {
  return { ...row, table: "conversation_items" };
}

/** Repeated ids are a bug: a conversation has each id once, and a second one would fail the whole commit. */
function textsOf(items: readonly StoredItem[]): Promise<readonly ItemText[]> {
  assert(new Set(items.map(({ id }) => id)).size === items.length, "items that are added together have different ids");
  return itemTextsOf(items);
}
