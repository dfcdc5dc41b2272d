import { freezeDeep } from "@antiphon/base/json/freeze-deep.ts";
import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, sql } from "kysely";
import { LRUCache } from "lru-cache";
import { builtOnce, type StandIns } from "../../database/built-once.ts";
import { isListedNumber } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import type { ChainLinkRow } from "../items/chain-links.ts";
import type { ContextBudget } from "../items/context-budget.ts";
import { type ItemPlace, readItems } from "../items/item-places.ts";
import { LIVE_STATUSES } from "./run-rows.ts";

/** The maximum bytes of cached items of ended responses, so that a chain is not read again for each of its turns. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** The maximum links per query. */
const LINKS_AT_ONCE_MAX = 100;
/** The maximum places per query: copying 90,000 rows out of the store thread takes 40 ms. */
const PLACES_AT_ONCE_MAX = 1_000;

export type Link = Pick<ChainLinkRow, "id" | "number" | "status">;

/** The place of an item of a chain. */
export interface ChainPlace extends ItemPlace {
  readonly id: string;
  readonly responseNumber: number;
}

interface KeptItems {
  readonly items: readonly StoredItem[];
  readonly bytes: number;
}

/** Loads the items of chains, link by link, input first. */
export class ChainItems {
  readonly #db: Kysely<Database>;
  /**
   * Cached items of ended responses. They never change and are frozen. The database is always checked for the existence
   * and owner of a response.
   */
  readonly #cache = new LRUCache<string, KeptItems>({
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
      const cacheEntry = this.#cache.get(link.id);
      if (cacheEntry === undefined) unread.push(link);
      else items.set(link.id, takeKept(cacheEntry, budget));
    }
    const places = new Map<number, ChainPlace[]>();
    await eachInSlices(await this.findPlaces(owner, unread, budget), (place) => {
      budget.takeBytes(place.bytes);
      const list = places.get(place.responseNumber);
      if (list === undefined) places.set(place.responseNumber, [place]);
      else list.push(place);
    });
    for (const link of unread) items.set(link.id, await this.#read(link, places.get(link.number) ?? []));
    return items;
  }

  /** The places of the items of these links, link by link. Charges the budget for their number, not for their text. */
  async findPlaces(owner: Owner, links: readonly Link[], budget: ContextBudget): Promise<readonly ChainPlace[]> {
    const places: ChainPlace[] = [];
    for (let start = 0; start < links.length; start += LINKS_AT_ONCE_MAX) {
      const numbers = links.slice(start, start + LINKS_AT_ONCE_MAX).map(({ number }) => number);
      const counts = await this.#count(numbers);
      for (const count of counts.values()) budget.takeItems(count);
      for (const together of findTogether(numbers, counts)) {
        const groups = Map.groupBy(await this.#findPlaces(owner, together), (place) => place.responseNumber);
        for (const number of together) for (const place of groups.get(number) ?? []) places.push(place);
      }
    }
    return places;
  }

  async #read({ id, status }: Link, places: readonly ItemPlace[]): Promise<readonly StoredItem[]> {
    const items = await readItems(this.#db, places);
    if (LIVE_STATUSES.includes(status)) return items;
    const bytes = places.reduce((sum, place) => sum + place.bytes, id.length);
    if (bytes > KEPT_BYTES_MAX) return items;
    await eachInSlices(items, freezeDeep);
    this.#cache.set(id, { items: Object.freeze(items), bytes });
    return items;
  }

  /** The number of items of each response that has any. */
  async #count(responses: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const { rows } = await countItems(this.#db, { responses: JSON.stringify(responses) });
    return new Map(rows.map(({ responseNumber, count }) => [responseNumber, count]));
  }

  async #findPlaces(owner: Owner, responses: readonly number[]): Promise<readonly ChainPlace[]> {
    const places: ChainPlace[] = [];
    for (;;) {
      const page = { responses: JSON.stringify(responses), limit: PLACES_AT_ONCE_MAX, offset: places.length };
      const { rows } = await findItems(this.#db, { ...page, ...owner });
      for (const row of rows) places.push({ ...row, table: "items" });
      if (rows.length < PLACES_AT_ONCE_MAX) return places;
    }
  }
}

/** Divides responses into groups with few items. A response with many items is its own group. */
function findTogether(numbers: readonly number[], counts: ReadonlyMap<number, number>): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let room = 0;
  for (const number of numbers) {
    const count = counts.get(number) ?? 0;
    if (count === 0) continue;
    if (count <= room) groups.at(-1)?.push(number);
    else {
      groups.push([number]);
      room = PLACES_AT_ONCE_MAX;
    }
    room -= count;
  }
  return groups;
}

/** A JSON list of the numbers of responses. */
type Responses = { readonly responses: string };
type Page = { readonly limit: number; readonly offset: number };

const countItems = builtOnce((db: Kysely<Database>, params: StandIns<Responses>) =>
  db
    .selectFrom("items")
    .select((expression) => ["response_number as responseNumber", expression.fn.countAll<number>().as("count")])
    .where(isOfOneOf(params))
    .groupBy("response_number")
    .compile(),
);

const findItems = builtOnce((db: Kysely<Database>, params: StandIns<Responses & Page & Owner>) =>
  db
    .selectFrom("items")
    // Does not read the bodies.
    .select(["id", "response_number as responseNumber", "sequence", sql<number>`octet_length(body)`.as("bytes")])
    .where(isOfOneOf(params))
    .where("organization", "=", params.value("organization"))
    .where("project", "=", params.value("project"))
    .orderBy("response_number")
    .orderBy("direction") // `input` sorts before `output`.
    .orderBy("position")
    .limit(params.value("limit"))
    .offset(params.value("offset"))
    .compile(),
);

function isOfOneOf(params: Pick<StandIns<Responses>, "value">) {
  return isListedNumber("response_number", params.value("responses"));
}

function takeKept({ items, bytes }: KeptItems, budget: ContextBudget): readonly StoredItem[] {
  budget.takeItems(items.length);
  budget.takeBytes(bytes);
  return items;
}
