import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { Kysely } from "kysely";
import { builtOnce, type StandIns } from "../../database/built-once.ts";
import { isListedNumber } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { storedItemInSlices } from "./stored-item.ts";

/** The row that holds an item, and the size of its text. */
export interface ItemPlace {
  readonly table: "items" | "conversation_items";
  readonly sequence: number;
  readonly bytes: number;
}

/** The maximum text and number of items read before the event loop gets a turn. */
const SLICE_BYTES_MAX = 1024 * 1024;
const SLICE_ITEMS_MAX = 200;
/** The largest page of a list in bytes, unless a single item is larger. */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;

/** Reads items in the order of their places. Leaves out items that were erased meanwhile. */
export async function readItems(db: Kysely<Database>, places: readonly ItemPlace[]): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  for (let start = 0; start < places.length; ) {
    if (start > 0) await nextTurn();
    const slice = sliceFrom(places, start);
    const bodies = await readBodies(db, slice);
    for (const { sequence } of slice) {
      const body = bodies.get(sequence);
      if (body !== undefined) items.push(await storedItemInSlices(body));
    }
    start += slice.length;
  }
  return items;
}

/** The places of one page: at most `limit`, and at most the maximum bytes of a page. */
export function firstPage<Place extends Pick<ItemPlace, "bytes">>(
  places: readonly Place[],
  limit: number,
): readonly Place[] {
  let bytes = 0;
  const end = places.findIndex((place, index) => {
    bytes += place.bytes;
    return index >= limit || (index > 0 && bytes > PAGE_BYTES_MAX);
  });
  return end === -1 ? places : places.slice(0, end);
}

function sliceFrom(places: readonly ItemPlace[], start: number): readonly ItemPlace[] {
  const table = places[start]?.table;
  let bytes = 0;
  let end = start;
  while (end < places.length && end - start < SLICE_ITEMS_MAX && places[end]?.table === table) {
    bytes += places[end]?.bytes ?? 0;
    if (end > start && bytes > SLICE_BYTES_MAX) break;
    end += 1;
  }
  return places.slice(start, end);
}

/**
 * All sequences are one parameter: with one parameter each, building the query would take longer than reading the rows.
 */
async function readBodies(db: Kysely<Database>, slice: readonly ItemPlace[]): Promise<ReadonlyMap<number, string>> {
  const sequences = JSON.stringify(slice.map(({ sequence }) => sequence));
  const { rows } = await readRows[slice[0]?.table ?? "items"](db, { sequences });
  return new Map(rows.map(({ sequence, body }) => [sequence, body]));
}

const readRows = { items: readFrom("items"), conversation_items: readFrom("conversation_items") };

function readFrom(table: ItemPlace["table"]) {
  return builtOnce((db: Kysely<Database>, params: StandIns<{ readonly sequences: string }>) =>
    db
      .selectFrom(table)
      .select(["sequence", "body"])
      .where(isListedNumber("sequence", params.value("sequences")))
      .compile(),
  );
}
