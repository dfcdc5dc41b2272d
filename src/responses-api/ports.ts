import type { Response, StoredItem } from "../../generated/responses-api/types.ts";
import type { Owner } from "../runs/ports.ts";

/** The items a response adds to the context of the next one: its input, then its output. */
export interface ChainLink {
  readonly responseId: string;
  readonly status: Response["status"];
  readonly items: readonly StoredItem[];
}

export interface ItemPage {
  readonly items: readonly StoredItem[];
  readonly hasMore: boolean;
}

export interface PageRequest {
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** Exclusive cursor: the id of the last item of the page before. */
  readonly after: string | null;
}

/** Stored responses and their items. A foreign or unknown id is `null`, `false` or an empty list, never an error that tells them apart. */
export interface ResponseStore {
  /** The latest stored snapshot. */
  findResponse(owner: Owner, responseId: string): Promise<Response | null>;
  /** Removes the response, its items and its events. False if there was none. */
  deleteResponse(owner: Owner, responseId: string): Promise<boolean>;
  /** The chain that ends with `responseId`, oldest first; null if any link is unknown to this owner. */
  loadChain(owner: Owner, responseId: string): Promise<readonly ChainLink[] | null>;
  /** One page of exactly the items supplied to that create call; null if the response, or the cursor, is unknown. */
  listInputItems(owner: Owner, responseId: string, page: PageRequest): Promise<ItemPage | null>;
  /** Stored items by id, for `item_reference`; unknown ids are absent from the map. */
  findItems(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>>;
}
