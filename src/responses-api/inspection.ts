import type { Response, ResponseNote, ResponseSummary, RunKind } from "../../generated/responses-api/types.ts";
import type { Owner } from "../runs/ports.ts";
import type { PageRequest } from "./ports.ts";

/** Which responses are meant; null members leave nothing out. All of them must fit. */
export interface ResponseFilter {
  readonly statuses: readonly Response["status"][] | null;
  readonly model: string | null;
  readonly kind: RunKind | null;
  readonly isBackground: boolean | null;
  /** In Unix seconds, this one included. */
  readonly createdAfter: number | null;
  /** In Unix seconds, this one excluded. */
  readonly createdBefore: number | null;
  /** Pairs that all have to be there. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly keyId: string | null;
  readonly conversationId: string | null;
  /** Each has to be in an item of the input or output. */
  readonly words: readonly string[];
}

export interface ResponsePageRequest extends PageRequest {
  readonly filter: ResponseFilter;
}

/** A response in a list. Its price depends on a table that the store does not know. */
export type ListedResponse = Omit<ResponseSummary, "price">;

export interface ResponsePage {
  readonly responses: readonly ListedResponse[];
  /** Whether there may be more. */
  readonly hasMore: boolean;
  /** The response that was looked at last, which need not be on the page; null if there was none. */
  readonly lastId: string | null;
}

/** What is known of how a response was made. */
export interface ResponseRecord {
  /** As `readEventTimes` reads them; null until it has ended, or if they were not recorded. */
  readonly eventTimes: string | null;
  readonly notes: readonly ResponseNote[];
}

/** Stored responses as operators look at them. Every method answers for one owner. */
export interface ResponseArchive {
  /** Null if the cursor is unknown. Looks at a limited number of responses at once. */
  list(owner: Owner, page: ResponsePageRequest): Promise<ResponsePage | null>;
  /** Null if the response is unknown. */
  findRecord(owner: Owner, responseId: string): Promise<ResponseRecord | null>;
}
