import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kysely, type SqlBool, sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { freezeDeep } from "../../base/json/freeze-deep.ts";
import type { Owner } from "../../runs/ports.ts";
import { builtOnce, type StandIns } from "../database/built-once.ts";
import type { Database } from "../database/schema.ts";
import { LIVE_STATUSES } from "../runs/run-rows.ts";
import type { ChainLinkRow } from "./chain-links.ts";
import type { ContextBudget } from "./context-budget.ts";
import { type ItemPlace, readItems } from "./item-places.ts";

/** How many bytes of items of ended responses are cached, so that a chain is not read again for each of its turns. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** How many links one query looks up. */
const LINKS_AT_ONCE_MAX = 100;

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
    const places = Map.groupBy(await this.findPlaces(owner, unread, budget), (place) => place.responseNumber);
    for (const place of [...places.values()].flat()) budget.takeBytes(place.bytes);
    for (const link of unread) items.set(link.id, await this.#read(link, places.get(link.number) ?? []));
    return items;
  }

  /** The places of the items of these links, link by link. Charges the budget for their number, not for their text. */
  async findPlaces(owner: Owner, links: readonly Link[], budget: ContextBudget): Promise<readonly ChainPlace[]> {
    const places: ChainPlace[] = [];
    for (let start = 0; start < links.length; start += LINKS_AT_ONCE_MAX) {
      if (start > 0) await nextTurn();
      const numbers = links.slice(start, start + LINKS_AT_ONCE_MAX).map(({ number }) => number);
      budget.takeItems(await this.#count(numbers));
      const found = Map.groupBy(await this.#findPlaces(owner, numbers), (place) => place.responseNumber);
      places.push(...numbers.flatMap((number) => found.get(number) ?? []));
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

  async #count(responses: readonly number[]): Promise<number> {
    const { rows } = await countItems(this.#db, { responses: JSON.stringify(responses) });
    return rows[0]?.count ?? 0;
  }

  async #findPlaces(owner: Owner, responses: readonly number[]): Promise<readonly ChainPlace[]> {
    const { rows } = await findItems(this.#db, { responses: JSON.stringify(responses), ...owner });
    return rows.map((row) => ({ ...row, table: "items" }));
  }
}

/** A JSON list of the numbers of responses. */
type Responses = { readonly responses: string };

const countItems = builtOnce((db: Kysely<Database>, given: StandIns<Responses>) =>
  db
    .selectFrom("items")
    .select((expression) => expression.fn.countAll<number>().as("count"))
    .where(isOfOneOf(given))
    .compile(),
);

const findItems = builtOnce((db: Kysely<Database>, given: StandIns<Responses & Owner>) =>
  db
    .selectFrom("items")
    // Does not read the bodies.
    .select(["id", "response_number as responseNumber", "sequence", sql<number>`octet_length(body)`.as("bytes")])
    .where(isOfOneOf(given))
    .where("organization", "=", given.value("organization"))
    .where("project", "=", given.value("project"))
    .orderBy("response_number")
    .orderBy("direction") // `input` sorts before `output`.
    .orderBy("position")
    .compile(),
);

function isOfOneOf(given: StandIns<Responses>) {
  return sql<SqlBool>`response_number in (select value from json_each(${given.value("responses")}))`;
}

function takeKept({ items, bytes }: KeptItems, budget: ContextBudget): readonly StoredItem[] {
  budget.takeItems(items.length);
  budget.takeBytes(bytes);
  return items;
}
