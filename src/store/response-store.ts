import { type Kysely, sql } from "kysely";
import type { Response, StoredItem } from "../../generated/responses-api/types.ts";
import { assert } from "../base/assert.ts";
import { rememberJson } from "../base/json-text.ts";
import type { ChainLink, ItemPage, PageRequest, ResponseStore, StoredResponse } from "../responses-api/ports.ts";
import type { Owner } from "../runs/ports.ts";
import { ChainItems } from "./chain-items.ts";
import type { WriteJob, WriteOutcome } from "./commit-plan.ts";
import type { CommitQueue } from "./commit-queue.ts";
import type { Database } from "./schema.ts";
import { storedItem } from "./stored-item.ts";

/** No honest chain is as long; one that is would be a circle. */
const CHAIN_LINKS_MAX = 10_000;
/** How many ids one query names, well below what a statement may hold. */
const QUERY_IDS_MAX = 1_000;

/** The responses and items in the database. Every query names the owner. */
export class StoredResponses implements ResponseStore {
  readonly #db: Kysely<Database>;
  readonly #queue: CommitQueue<WriteJob, WriteOutcome>;
  readonly #items: ChainItems;

  constructor(db: Kysely<Database>, queue: CommitQueue<WriteJob, WriteOutcome>) {
    this.#db = db;
    this.#items = new ChainItems(db);
    this.#queue = queue;
  }

  async findResponse(owner: Owner, responseId: string): Promise<Response | null> {
    return (await this.findStored(owner, responseId))?.response ?? null;
  }

  async findStored(owner: Owner, responseId: string): Promise<StoredResponse | null> {
    const row = await this.#db
      .selectFrom("responses")
      .select(["body", "streamed"])
      .where("id", "=", responseId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .executeTakeFirst();
    if (row === undefined) return null;
    const response: Response = JSON.parse(row.body);
    return { response: rememberJson(response, row.body), streamed: row.streamed === 1 };
  }

  /** Takes its turn among the writes of the runs, so that nothing of the response can be stored afterwards. */
  async deleteResponse(owner: Owner, responseId: string): Promise<boolean> {
    return (await this.#queue.add({ type: "delete", owner, responseId }, "urgent")) === "written";
  }

  async loadChain(owner: Owner, responseId: string): Promise<readonly ChainLink[] | null> {
    const links = await this.#findLinks(owner, responseId);
    assert(links.length < CHAIN_LINKS_MAX, "a chain of responses has an end");
    if (links[0]?.previousResponseId !== null) return null; // Nothing was found, or the first link follows one that is not there.
    const items = await this.#items.load(owner, links);
    return links.map(({ id, status }) => ({ responseId: id, status, items: items.get(id) ?? [] }));
  }

  async listInputItems(owner: Owner, responseId: string, page: PageRequest): Promise<ItemPage | null> {
    if (!(await this.#hasResponse(owner, responseId))) return null;
    const cursor = page.after === null ? null : await this.#findPosition(owner, responseId, page.after, page.order);
    if (page.after !== null && cursor === null) return null;
    const rows = await this.#db
      .selectFrom("items")
      .select("body")
      .where("response_id", "=", responseId)
      .where("direction", "=", "input")
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .$if(cursor !== null, (query) => query.where("position", page.order === "asc" ? ">" : "<", cursor))
      .orderBy("position", page.order)
      .limit(page.limit + 1)
      .execute();
    return { items: rows.slice(0, page.limit).map((row) => storedItem(row.body)), hasMore: rows.length > page.limit };
  }

  async findItems(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>> {
    const found = new Map<string, StoredItem>();
    const wanted = [...new Set(ids)];
    for (let first = 0; first < wanted.length; first += QUERY_IDS_MAX) {
      const rows = await this.#findNewest(owner, wanted.slice(first, first + QUERY_IDS_MAX));
      for (const { id, body } of rows) found.set(id, storedItem(body));
    }
    const elsewhere = wanted.filter((id) => !found.has(id));
    for (let first = 0; first < elsewhere.length; first += QUERY_IDS_MAX) {
      const rows = await this.#findInConversations(owner, elsewhere.slice(first, first + QUERY_IDS_MAX));
      for (const { id, body } of rows) found.set(id, storedItem(body)); // The newest comes last.
    }
    return found;
  }

  #findInConversations(owner: Owner, ids: readonly string[]) {
    return this.#db
      .selectFrom("conversation_items")
      .select(["id", "body"])
      .where("id", "in", ids)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .orderBy("sequence")
      .execute();
  }

  async #hasResponse(owner: Owner, responseId: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom("responses")
      .select("id")
      .where("id", "=", responseId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Where an id stands more than once, its last place in this order counts: otherwise a client would turn pages in a circle. */
  async #findPosition(
    owner: Owner,
    responseId: string,
    itemId: string,
    order: PageRequest["order"],
  ): Promise<number | null> {
    const row = await this.#db
      .selectFrom("items")
      .select("position")
      .where("response_id", "=", responseId)
      .where("direction", "=", "input")
      .where("id", "=", itemId)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .orderBy("position", order === "asc" ? "desc" : "asc")
      .executeTakeFirst();
    return row?.position ?? null;
  }

  /** The chain, oldest first, as far back as this owner has its links. */
  #findLinks(owner: Owner, responseId: string) {
    return this.#db
      .withRecursive("chain(id, status, previousResponseId, depth)", (db) =>
        db
          .selectFrom("responses")
          .select(["id", "status", "previous_response_id as previousResponseId", sql<number>`0`.as("depth")])
          .where("id", "=", responseId)
          .where("organization", "=", owner.organization)
          .where("project", "=", owner.project)
          .unionAll(
            db
              .selectFrom("chain")
              .innerJoin("responses", "responses.id", "chain.previousResponseId")
              .select([
                "responses.id",
                "responses.status",
                "responses.previous_response_id as previousResponseId",
                sql<number>`chain.depth + 1`.as("depth"),
              ])
              .where("organization", "=", owner.organization)
              .where("project", "=", owner.project)
              .where("depth", "<", CHAIN_LINKS_MAX),
          ),
      )
      .selectFrom("chain")
      .select(["id", "status", "previousResponseId"])
      .orderBy("depth", "desc")
      .execute();
  }

  #findNewest(owner: Owner, ids: readonly string[]) {
    return this.#db
      .selectFrom("items")
      .select(["id", "body"])
      .where("sequence", "in", (query) =>
        query
          .selectFrom("items")
          .select((expression) => expression.fn.max("sequence").as("sequence"))
          .where("id", "in", ids)
          .where("organization", "=", owner.organization)
          .where("project", "=", owner.project)
          .groupBy("id"),
      )
      .execute();
  }
}
