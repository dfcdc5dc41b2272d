import { setImmediate as nextTurn } from "node:timers/promises";
import { rememberJson } from "@antiphon/base/json/json-text.ts";
import { writeJson } from "@antiphon/base/json/write-json.ts";
import { pageOf } from "@antiphon/base/page-of.ts";
import type { Response, ResponsePause, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type {
  ChainLink,
  ConversationItems,
  InputPageRequest,
  ItemPage,
  PageRequest,
  ResponseStore,
  StoredResponse,
} from "@antiphon/domain/responses.ts";
import { type Kysely, sql } from "kysely";
import { builtOnce, type StandIns } from "../database/built-once.ts";
import { dialectal } from "../database/dialectal.ts";
import type { Database } from "../database/schema.ts";
import { storedJsonInSlices } from "../database/stored-json.ts";
import { isId, isOneOf } from "../database/time-first.ts";
import { type ChainLinkRow, findLinks } from "../rows/items/chain-links.ts";
import { CONTEXT_ITEMS_MAX, ContextBudget } from "../rows/items/context-budget.ts";
import { findConversationPlaces, loadConversationItems } from "../rows/items/conversation-items.ts";
import { firstPage, type ItemPlace, readItems } from "../rows/items/item-places.ts";
import { ChainItems } from "../rows/runs/chain-items.ts";
import { LIVE_STATUSES, numberOf } from "../rows/runs/run-rows.ts";
import type { RunCommits } from "./runs/run-commits.ts";

/** The maximum ids per query, well below SQLite's limit. */
const QUERY_IDS_MAX = 1_000;

/** The responses and items in the database. Every query names the owner. */
export class StoredResponses implements ResponseStore {
  readonly #db: Kysely<Database>;
  readonly #commits: RunCommits;
  readonly #items: ChainItems;
  readonly #contextBytesMax: number;

  constructor(db: Kysely<Database>, commits: RunCommits, contextBytesMax: number) {
    this.#db = db;
    this.#contextBytesMax = contextBytesMax;
    this.#items = new ChainItems(db);
    this.#commits = commits;
  }

  async findResponse(owner: Owner, responseId: string): Promise<Response | null> {
    return (await this.findStored(owner, responseId))?.response ?? null;
  }

  async findStored(owner: Owner, responseId: string): Promise<StoredResponse | null> {
    const { rows } = await findBody(this.#db, { responseId, ...owner });
    const [row] = rows;
    if (row === undefined) return null;
    const response = rememberJson(await storedJsonInSlices<Response>(row.body), row.body);
    const { streamed, paused_at: since, worker, successor_id: successorId } = row;
    const isPaused = since !== null && LIVE_STATUSES.includes(response.status);
    const pause: ResponsePause | null = isPaused ? { since, status: worker === null ? "paused" : "pausing" } : null;
    return { response, isStreamed: streamed === 1, pause, successorId };
  }

  async replaceMetadata(
    owner: Owner,
    responseId: string,
    metadata: Response["metadata"],
  ): Promise<Response | null | false> {
    const found = await this.findResponse(owner, responseId);
    if (found === null) return null;
    if (found.completed_at === null && (found.status === "queued" || found.status === "in_progress")) return false;
    const response = { ...found, metadata };
    await this.#db
      .updateTable("responses")
      .set({ metadata: JSON.stringify(metadata ?? {}), body: await writeJson(response) })
      .where(isId("responses.id", responseId))
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .execute();
    return response;
  }

  /** Uses the commit queue, so that no later write of a run can restore the response. */
  async deleteResponse(owner: Owner, responseId: string): Promise<boolean> {
    return (await this.#commits.add({ type: "delete", owner, responseId }, "urgent")) === "written";
  }

  async loadChain(owner: Owner, responseId: string): Promise<readonly ChainLink[] | null> {
    const links = await this.#findLinks(owner, responseId);
    if (links === null) return null;
    const budget = new ContextBudget(this.#contextBytesMax);
    const seenItems = await this.#loadSeen(owner, links, budget);
    const items = await this.#items.load(owner, links, budget);
    return links.map(({ id, status }) => ({
      responseId: id,
      status,
      seenItems: seenItems.get(id) ?? null,
      items: items.get(id) ?? [],
    }));
  }

  /** Loads the conversation items that links saw. Only the first link of a chain can have a conversation. */
  async #loadSeen(owner: Owner, links: readonly ChainLinkRow[], budget: ContextBudget) {
    const seenItems = new Map<string, ConversationItems>();
    for (const { id, conversationId, conversationSeen } of links) {
      if (conversationId === null) continue;
      const part = { owner, conversationId, lastSequence: conversationSeen ?? 0 };
      seenItems.set(id, await loadConversationItems(this.#db, part, budget));
    }
    return seenItems;
  }

  async listInputItems(owner: Owner, responseId: string, request: InputPageRequest): Promise<ItemPage | null> {
    const { after, before, history, order, limit } = request;
    if (history || before !== null) return await this.#listAround(owner, responseId, request);
    if (!(await this.#hasResponse(owner, responseId))) return null;
    const cursor = after === null ? null : await this.#findPosition(owner, responseId, after, order);
    if (after !== null && cursor === null) return null;
    const places = await this.#inputOf(owner, responseId)
      .$if(cursor !== null, (query) => query.where("position", order === "asc" ? ">" : "<", cursor))
      .orderBy("position", order)
      .limit(limit + 1)
      .execute();
    const page = firstPage(places.map(inItems), limit);
    return { items: await readItems(this.#db, page), hasMore: places.length > page.length };
  }

  async findItems(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>> {
    const uniqueIds = [...new Set(ids)];
    const places = new Map<string, ItemPlace>();
    await this.#findAll(uniqueIds, (some) => this.#findNewest(owner, some), places);
    const elsewhere = uniqueIds.filter((id) => !places.has(id));
    await this.#findAll(elsewhere, (some) => this.#findInConversations(owner, some), places);
    const budget = new ContextBudget(this.#contextBytesMax);
    budget.takeItems(places.size);
    for (const { bytes } of places.values()) budget.takeBytes(bytes);
    const items = await readItems(this.#db, [...places.values()]);
    return new Map(items.map((item) => [item.id, item]));
  }

  async findOutputs(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>> {
    const places = new Map<string, ItemPlace>();
    await this.#findAll([...new Set(ids)], (some) => this.#findMade(owner, some), places);
    const items = await readItems(this.#db, [...places.values()]);
    return new Map(items.map((item) => [item.id, item]));
  }

  /** Looks up ids in batches and records the places of their items. If an id has several rows, the last one counts. */
  async #findAll(
    ids: readonly string[],
    find: (ids: readonly string[]) => Promise<readonly (ItemPlace & { readonly id: string })[]>,
    places: Map<string, ItemPlace>,
  ): Promise<void> {
    for (let first = 0; first < ids.length; first += QUERY_IDS_MAX) {
      if (first > 0) await nextTurn();
      for (const place of await find(ids.slice(first, first + QUERY_IDS_MAX))) places.set(place.id, place);
    }
  }

  /** Lists a page that needs the whole list, but only the text of the page's own items. */
  async #listAround(owner: Owner, responseId: string, request: InputPageRequest): Promise<ItemPage | null> {
    const response = await this.findResponse(owner, responseId);
    if (response === null) return null;
    const budget = new ContextBudget(Number.POSITIVE_INFINITY);
    const previousId = request.history ? response.previous_response_id : null;
    const links = previousId === null ? null : await this.#findLinks(owner, previousId);
    const earlier = [
      ...(await this.#findSeen(owner, links ?? [], budget)),
      ...(await this.#items.findPlaces(owner, links ?? [], budget)),
    ];
    const own = await this.#inputOf(owner, responseId)
      .orderBy("position")
      .limit(CONTEXT_ITEMS_MAX + 1)
      .execute();
    budget.takeItems(own.length);
    const rest = pageOf([...earlier, ...own.map(inItems)], request, request.before);
    if (rest === null) return null;
    const page = firstPage(rest, request.limit);
    return { items: await readItems(this.#db, page), hasMore: rest.length > page.length };
  }

  async #findSeen(owner: Owner, links: readonly ChainLinkRow[], budget: ContextBudget) {
    const [first] = links;
    if (first === undefined || first.conversationId === null) return [];
    const part = { owner, conversationId: first.conversationId, lastSequence: first.conversationSeen ?? 0 };
    const places = await findConversationPlaces(this.#db, part);
    budget.takeItems(places.length);
    return places;
  }

  #inputOf(owner: Owner, responseId: string) {
    return this.#db
      .selectFrom("items")
      .select(["id", "sequence", sql<number>`octet_length(body)`.as("bytes")])
      .where("response_number", "=", numberOf(this.#db, responseId))
      .where("direction", "=", "input")
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project);
  }

  async #findMade(owner: Owner, ids: readonly string[]) {
    const rows = await this.#db
      .selectFrom("items")
      .select(["id", "sequence", sql<number>`octet_length(body)`.as("bytes")])
      .where(isOneOf("items.id", ids))
      .where("direction", "=", "output")
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .execute();
    return rows.map(inItems);
  }

  async #findInConversations(owner: Owner, ids: readonly string[]) {
    const rows = await this.#db
      .selectFrom("conversation_items")
      .select(["id", "sequence", sql<number>`octet_length(body)`.as("bytes")])
      .where(isOneOf("conversation_items.id", ids))
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .orderBy("sequence") // The newest row comes last.
      .execute();
    return rows.map((row) => ({ ...row, table: "conversation_items" as const }));
  }

  async #hasResponse(owner: Owner, responseId: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom("responses")
      .select("number")
      .where(isId("responses.id", responseId))
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * If an id occurs more than once, its last place in this order counts. Otherwise, a client would read the same pages
   * in a circle.
   */
  async #findPosition(
    owner: Owner,
    responseId: string,
    itemId: string,
    order: PageRequest["order"],
  ): Promise<number | null> {
    const row = await this.#db
      .selectFrom("items")
      .select("position")
      .where("response_number", "=", numberOf(this.#db, responseId))
      .where("direction", "=", "input")
      .where("id", "=", itemId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .orderBy("position", order === "asc" ? "desc" : "asc")
      .executeTakeFirst();
    return row?.position ?? null;
  }

  /** The chain, oldest first; null if a link is not this owner's. */
  async #findLinks(owner: Owner, responseId: string) {
    const links = await findLinks(this.#db, owner, responseId);
    // Otherwise, nothing was found, or the oldest link continues a missing response.
    return links[0]?.previousResponseId === null ? links : null;
  }

  async #findNewest(owner: Owner, ids: readonly string[]) {
    // Excludes items of deleted responses.
    const source = sql`from items where ${isOneOf("items.id", ids)}
      and organization = ${owner.organization} and project = ${owner.project}
      and exists (select 1 from responses where responses.number = items.response_number)`;
    const { rows } = await dialectal(
      // SQLite takes bare columns beside `max` from the row with the maximum.
      sql<NewestItem>`select items.id, max(sequence) as sequence, octet_length(body) as bytes ${source} group by items.id`,
      () => sql<NewestItem>`select distinct on (items.id) items.id, sequence, octet_length(body) as bytes ${source}
        order by items.id, sequence desc`,
    ).execute(this.#db);
    return rows.map(inItems);
  }
}

const findBody = builtOnce((db: Kysely<Database>, params: StandIns<Owner & { readonly responseId: string }>) =>
  db
    .selectFrom("responses")
    .select(["body", "streamed", "paused_at", "worker", "successor_id"])
    .where(isId("responses.id", params.id("responseId")))
    .where("organization", "=", params.value("organization"))
    .where("project", "=", params.value("project"))
    .compile(),
);

type NewestItem = Pick<ItemPlace, "sequence" | "bytes"> & { readonly id: string };

function inItems<Row extends { readonly id: string; readonly sequence: number; readonly bytes: number }>(row: Row) {
  return { ...row, table: "items" as const };
}
