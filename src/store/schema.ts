import type { Generated } from "kysely";
import type { Response } from "../../generated/responses-api/types.ts";

/** The tables as Kysely sees them. A test compares them with what the migrations really make. */
export interface Database {
  readonly responses: ResponsesTable;
  readonly items: ItemsTable;
  readonly event_chunks: EventChunksTable;
  readonly event_journal: EventJournalTable;
  readonly api_keys: ApiKeysTable;
}

export interface ResponsesTable {
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly status: Response["status"];
  readonly model: string;
  readonly previous_response_id: string | null;
  readonly created_at: number;
  readonly completed_at: number | null;
  /** JSON of the latest snapshot. */
  readonly body: string;
  /** Grows with each snapshot. */
  readonly version: number;
}

/** One item of one response. The same item id may stand in many responses, because clients send items back with their ids. */
export interface ItemsTable {
  /** Grows with each stored item, so the newest of several items of one id is the one with the highest. */
  readonly sequence: Generated<number>;
  readonly id: string;
  readonly response_id: string;
  readonly organization: string;
  readonly project: string;
  readonly direction: ItemDirection;
  readonly position: number;
  readonly body: string;
}

export type ItemDirection = "input" | "output";

/** Events `first_number` to `last_number` of one response, all of them: numbers have no gaps. */
export interface EventChunksTable {
  readonly response_id: string;
  readonly first_number: number;
  readonly last_number: number;
  /** The events' JSON, one a line. */
  readonly body: string;
}

/** What each commit stored of runs whose events fill no chunk yet: one row for all of them. Read only after a crash. */
export interface EventJournalTable {
  /** How much text lay in the journal before this row. */
  readonly position: number;
  /** See `journal.ts`. */
  readonly body: string;
}

export interface ApiKeysTable {
  readonly id: string;
  readonly hash: string;
  readonly organization: string;
  readonly project: string;
  readonly name: string;
  readonly created_at: number;
}
