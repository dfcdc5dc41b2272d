import type { Kysely } from "kysely";
import type { Response, StoredItem } from "../../generated/responses-api/types.ts";
import { LruCache } from "../base/lru-cache.ts";
import type { Owner } from "../runs/ports.ts";
import { LIVE_STATUSES } from "./run-rows.ts";
import type { Database } from "./schema.ts";
import { storedItem } from "./stored-item.ts";

/** How much JSON of responses that have ended is kept read, so that a chain is not read anew for each of its turns. */
const KEPT_CHARACTERS_MAX = 4 * 1024 * 1024;

export interface Link {
  readonly id: string;
  readonly status: Response["status"];
}

/** The items of the links of chains, input first. */
export class ChainItems {
  readonly #db: Kysely<Database>;
  /** Those of responses that have ended never change. Whether a response is there, and whose it is, only the database knows. */
  readonly #ended = new LruCache<readonly StoredItem[]>(KEPT_CHARACTERS_MAX);

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** By response; `links` are this owner's, as the database has just told. */
  async load(owner: Owner, links: readonly Link[]): Promise<ReadonlyMap<string, readonly StoredItem[]>> {
    const items = new Map<string, readonly StoredItem[]>();
    const unread: Link[] = [];
    for (const link of links) {
      const known = this.#ended.find(link.id);
      if (known === null) unread.push(link);
      else items.set(link.id, known);
    }
    if (unread.length === 0) return items;
    const rows = Map.groupBy(await this.#findRows(owner, unread), (row) => row.response_id);
    for (const { id, status } of unread) {
      const bodies = (rows.get(id) ?? []).map(({ body }) => body);
      const read = bodies.map(storedItem);
      items.set(id, read);
      if (!LIVE_STATUSES.includes(status)) this.#ended.keep(id, read, lengthOf([id, ...bodies]));
    }
    return items;
  }

  #findRows(owner: Owner, links: readonly Link[]) {
    const ids = links.map(({ id }) => id);
    return this.#db
      .selectFrom("items")
      .select(["response_id", "body"])
      .where("response_id", "in", ids)
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .orderBy("response_id")
      .orderBy("direction") // `input` comes before `output`.
      .orderBy("position")
      .execute();
  }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}
