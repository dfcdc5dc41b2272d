import { setImmediate as nextTurn } from "node:timers/promises";
import { freezeDeep } from "@antiphon/base/json/freeze-deep.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ConversationItems } from "@antiphon/domain/responses.ts";
import { type Kysely, type Selectable, sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { ConversationItemsTable, Database } from "../../database/schema.ts";
import { CONTEXT_ITEMS_MAX, type ContextBudget } from "./context-budget.ts";
import type { ItemPlace } from "./item-places.ts";
import { storedItemInSlices } from "./stored-item.ts";

const SLICE_BYTES = 1024 * 1024;
const SLICE_ITEMS_MAX = 500;

/**
 * The places of a conversation's items up to this sequence, even if the conversation was deleted. Returns at most one
 * more than a context may have.
 */
export async function findConversationPlaces(
  db: Kysely<Database>,
  part: ConversationPart,
): Promise<readonly (ItemPlace & { readonly id: string })[]> {
  const rows = await selectPartItems(db, part)
    .select(["id", "sequence", sql<number>`octet_length(body)`.as("bytes")]) // Does not read the bodies.
    .orderBy("sequence")
    .limit(CONTEXT_ITEMS_MAX + 1)
    .execute();
  return rows.map(({ id, sequence, bytes }) => ({ id, sequence, bytes, table: "conversation_items" }));
}

/** The items of a conversation up to a sequence, even if the conversation was deleted. */
export interface ConversationPart {
  readonly owner: Owner;
  readonly conversationId: string;
  readonly lastSequence: number;
}

/** Loads part of a conversation. Throws `ContextTooLong` if it exceeds the budget. */
export async function loadConversationItems(
  db: Kysely<Database>,
  part: ConversationPart,
  budget: ContextBudget,
): Promise<ConversationItems> {
  return (await loadAfter(db, part, budget, null)).page;
}

/** The cached items of a conversation, and the values that prove them unchanged. */
interface KnownItems {
  readonly items: readonly StoredItem[];
  /** The size of all bodies. */
  readonly bytes: number;
  readonly lastSequence: number;
  readonly lastBody: string;
}

/** The maximum bytes of cached conversations. */
const KNOWN_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Loads whole conversations. Loaded items are cached and frozen, so that a turn reads only the items since the previous
 * turn. Each load checks the owner, and that number, size and last one of the known items are unchanged.
 */
export class WholeConversations {
  readonly #db: Kysely<Database>;
  readonly #cache = new LRUCache<string, KnownItems>({
    maxSize: KNOWN_BYTES_MAX,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async load(owner: Owner, conversationId: string, budget: ContextBudget): Promise<ConversationItems> {
    const whole = { owner, conversationId, lastSequence: Number.MAX_SAFE_INTEGER };
    const { page, cacheEntry } = await loadAfter(this.#db, whole, budget, this.#cache.get(conversationId) ?? null);
    if (cacheEntry === null || cacheEntry.bytes > KNOWN_BYTES_MAX) this.#cache.delete(conversationId);
    else this.#cache.set(conversationId, cacheEntry);
    return page;
  }

  /** Call when an item is deleted: its number in the table may be reused. */
  forget(conversationId: string): void {
    this.#cache.delete(conversationId);
  }
}

interface Loaded {
  readonly page: ConversationItems;
  /** Null if there are no items. */
  readonly cacheEntry: KnownItems | null;
}

async function loadAfter(
  db: Kysely<Database>,
  part: ConversationPart,
  budget: ContextBudget,
  cacheEntry: KnownItems | null,
): Promise<Loaded> {
  const { count, bytes, knownCount, knownBytes } = await selectPartItems(db, part)
    .select(({ fn }) => {
      const isKnown = sql`sequence <= ${cacheEntry?.lastSequence ?? -1}`;
      return [
        fn.countAll<number>().as("count"),
        sql<number>`coalesce(sum(octet_length(body)), 0)`.as("bytes"), // Does not read the bodies.
        sql<number>`count(*) filter (where ${isKnown})`.as("knownCount"),
        sql<number>`coalesce(sum(octet_length(body)) filter (where ${isKnown}), 0)`.as("knownBytes"),
      ];
    })
    .executeTakeFirstOrThrow();
  budget.takeItems(count);
  budget.takeBytes(bytes);
  const split = await db
    .selectFrom("split_calls")
    .select("call_id")
    .where("conversation_id", "=", part.conversationId)
    .limit(CONTEXT_ITEMS_MAX)
    .execute();
  const splitCalls = new Set(split.map((row) => row.call_id));
  const usable =
    cacheEntry !== null && knownCount === cacheEntry.items.length && knownBytes === cacheEntry.bytes
      ? cacheEntry
      : null;
  const rows = await readInSlices(db, part, (usable?.lastSequence ?? 0) - 1, Math.ceil(bytes / Math.max(1, count)));
  const isSame = usable !== null && rows.first?.body === usable.lastBody;
  if (usable !== null && !isSame) return await loadAfter(db, part, budget, null);
  const items = usable === null ? rows.items : [...usable.items, ...rows.items.slice(1)];
  const { last } = rows;
  return {
    page: { items, splitCalls },
    cacheEntry: last === undefined ? null : { items, bytes, lastSequence: last.sequence, lastBody: last.body },
  };
}

type ItemRow = Pick<Selectable<ConversationItemsTable>, "sequence" | "body">;

interface ReadRows {
  readonly items: readonly StoredItem[];
  readonly first: ItemRow | undefined;
  readonly last: ItemRow | undefined;
}

/** Reads in slices of about a megabyte, with a turn of the event loop in between. */
async function readInSlices(
  db: Kysely<Database>,
  part: ConversationPart,
  after: number,
  itemBytes: number,
): Promise<ReadRows> {
  const limit = Math.min(SLICE_ITEMS_MAX, Math.max(1, Math.floor(SLICE_BYTES / Math.max(1, itemBytes))));
  const items: StoredItem[] = [];
  let first: ItemRow | undefined;
  let last: ItemRow | undefined;
  for (;;) {
    const rows = await selectPartItems(db, part)
      .select(["sequence", "body"])
      .where("sequence", ">", last?.sequence ?? after)
      .orderBy("sequence")
      .limit(limit)
      .execute();
    for (const { body } of rows) items.push(freezeDeep(await storedItemInSlices(body)));
    first ??= rows[0];
    last = rows.at(-1) ?? last;
    if (rows.length < limit) return { items, first, last };
    await nextTurn();
  }
}

function selectPartItems(db: Kysely<Database>, { owner, conversationId, lastSequence }: ConversationPart) {
  return db
    .selectFrom("conversation_items")
    .where("conversation_id", "=", conversationId)
    .where("organization", "=", owner.organization)
    .where("project", "=", owner.project)
    .where("sequence", "<=", lastSequence);
}
