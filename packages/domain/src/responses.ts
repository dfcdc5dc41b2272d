import type { Response, ResponsePause, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "./owner.ts";

/** The items of a conversation, oldest first. */
export interface ConversationItems {
  readonly items: readonly StoredItem[];
  /**
   * Ids of calls that lost their call or output item to a client's delete. The deleted half may have been added again.
   */
  readonly splitCalls: ReadonlySet<string>;
}

/** The items that a response adds to the context of the next response. */
export interface ChainLink {
  readonly responseId: string;
  readonly status: Response["status"];
  /** The items of its conversation that it saw and that still exist; null outside conversations. */
  readonly seenItems: ConversationItems | null;
  /** Its input items, then its output items. */
  readonly items: readonly StoredItem[];
}

/** A response, and facts about it that its body does not show. */
export interface StoredResponse {
  readonly response: Response;
  /** Whether its request had `stream`. */
  readonly isStreamed: boolean;
  /** Null if it has ended, or is not paused. */
  readonly pause: ResponsePause | null;
  /** The response that took the input which was added to it; null if there is none. */
  readonly successorId: string | null;
}

/** A page may be shorter than `limit` and still have `hasMore`, because the text of a page is limited too. */
export interface ItemPage {
  readonly items: readonly StoredItem[];
  readonly hasMore: boolean;
}

export interface PageRequest {
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** An exclusive cursor: the id of the last item of the previous page; null for the first page. */
  readonly after: string | null;
}

export interface InputPageRequest extends PageRequest {
  /** An item id before which the page ends; null if only `limit` ends it. */
  readonly before: string | null;
  /** Whether to include the items of earlier responses in the chain. */
  readonly history: boolean;
}

/**
 * Stored responses and their items. Unknown ids and ids of other owners give the same result: `null`, `false` or an
 * empty list.
 */
export interface ResponseStore {
  /** The latest stored snapshot. */
  findResponse(owner: Owner, responseId: string): Promise<Response | null>;
  findStored(owner: Owner, responseId: string): Promise<StoredResponse | null>;
  /**
   * Replaces the metadata of a response that has ended. Returns the response; null if there is no such response, and
   * false if it has not ended.
   */
  replaceMetadata(owner: Owner, responseId: string, metadata: Response["metadata"]): Promise<Response | null | false>;
  /**
   * Removes the response, its events and its items. If other responses continue it, its items stay until the last of
   * them is removed. Returns false if there was no such response.
   */
  deleteResponse(owner: Owner, responseId: string): Promise<boolean>;
  /**
   * The chain that ends with `responseId`, oldest first, deleted links included; null if a link is unknown to this
   * owner. Rejects with `ContextTooLong` if the chain is larger than the budget.
   */
  loadChain(owner: Owner, responseId: string): Promise<readonly ChainLink[] | null>;
  /**
   * One page of the input items of the response's create call; with `history`, preceded by the items of its chain. Null
   * if the response or a cursor is unknown.
   */
  listInputItems(owner: Owner, responseId: string, page: InputPageRequest): Promise<ItemPage | null>;
  /**
   * Stored items by id, conversation items included, for `item_reference`. Unknown ids are absent from the map. Rejects
   * with `ContextTooLong` like `loadChain`.
   */
  findItems(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>>;
  /** Output items of responses by id, including deleted responses that others continue. Input items are absent. */
  findOutputs(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>>;
}
