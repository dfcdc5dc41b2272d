import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { Response, StoredItem } from "../../../generated/responses-api/types.ts";
import { freezeDeep } from "../../base/json/freeze-deep.ts";
import type { Owner } from "../../runs/ports.ts";
import type { Database } from "../database/schema.ts";
import { LIVE_STATUSES } from "../runs/run-rows.ts";
import type { ContextBudget } from "./context-budget.ts";
import { type ItemPlace, readItems } from "./item-places.ts";

/** How many bytes of items of ended responses are cached, so that a chain is not read again for each of its turns. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** How many links one query looks up. */
const LINKS_AT_ONCE_MAX = 100;

export interface Link {
  readonly id: string;
  readonly status: Response["status"];
}

/** The place of an item of a chain. */
export interface ChainPlace extends ItemPlace {
  readonly id: string;
  readonly responseId: string;
}

interface KeptItems {
  readonly items: readonly StoredItem[];
  readonly bytes: number;
}

/** Loads the items of chains, link by link, input first. */
export class ChainItems {
  readonly #db: Kysely<Database>;
  /**
   * Cached items of ended responses. They never change and are frozen. Existence and owner of a response are always
   * checked in the database.
   */
  readonly #ended = new LRUCache<string, KeptItems>({
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  });

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Returns the items by response. The caller must have just read `links` from the database, for this owner. */
  async load(
    owner: Owner,
    links: readonly Link[],
    budget: ContextBudget,
  ): Promise<ReadonlyMap<string, readonly StoredItem[]>> {
    const items = new Map<string, readonly StoredItem[]>();
    const unread: Link[] = [];
    for (const link of links) {
      const known = this.#ended.get(link.id);
      if (known === undefined) unread.push(link);
      else items.set(link.id, takeKept(known, budget));
    }
    const places = Map.groupBy(await this.findPlaces(owner, unread, budget), (place) => place.responseId);
    for (const place of [...places.values()].flat()) budget.takeBytes(place.bytes);
    for (const link of unread) items.set(link.id, await this.#read(link, places.get(link.id) ?? []));
    return items;
  }

  /** The places of the items of these links, link by link. Charges the budget for their number, not for their text. */
  async findPlaces(owner: Owner, links: readonly Link[], budget: ContextBudget): Promise<readonly ChainPlace[]> {
    const places: ChainPlace[] = [];
    for (let start = 0; start < links.length; start += LINKS_AT_ONCE_MAX) {
      if (start > 0) await nextTurn();
      const ids = links.slice(start, start + LINKS_AT_ONCE_MAX).map(({ id }) => id);
      budget.takeItems(await this.#count(ids));
      const found = Map.groupBy(await this.#findPlaces(owner, ids), (place) => place.responseId);
      places.push(...ids.flatMap((id) => found.get(id) ?? []));
    }
    return places;
  }

  async #read({ id, status }: Link, places: readonly ItemPlace[]): Promise<readonly StoredItem[]> {
    const items = await readItems(this.#db, places);
    if (LIVE_STATUSES.includes(status)) return items;
    const bytes = places.reduce((sum, place) => sum + place.bytes, id.length);
    if (bytes <= KEPT_BYTES_MAX) this.#ended.set(id, { items: freezeDeep(items), bytes });
    return items;
  }

  async #count(responseIds: readonly string[]): Promise<number> {
    const { count } = await this.#db
      .selectFrom("items")
      .select((expression) => expression.fn.countAll<number>().as("count"))
      .where("response_id", "in", responseIds)
      .executeTakeFirstOrThrow();
    return count;
  }

  async #findPlaces(owner: Owner, responseIds: readonly string[]): Promise<readonly ChainPlace[]> {
    const rows = await this.#db
      .selectFrom("items")
      // Does not read the bodies.
      .select(["id", "response_id as responseId", "sequence", sql<number>`octet_length(body)`.as("bytes")])
      .where("response_id", "in", responseIds)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .orderBy("response_id")
      .orderBy("direction") // `input` sorts before `output`.
      .orderBy("position")
      .execute();
    return rows.map((row) => ({ ...row, table: "items" }));
  }
}

function takeKept({ items, bytes }: KeptItems, budget: ContextBudget): readonly StoredItem[] {
  budget.takeItems(items.length);
  budget.takeBytes(bytes);
  return items;
}
