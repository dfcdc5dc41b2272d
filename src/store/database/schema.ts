import type { Generated } from "kysely";
import type { FileObject, Response } from "../../../generated/responses-api/types.ts";

/** The tables as Kysely sees them. A test compares them with what the migrations really make. */
export interface Database {
  readonly responses: ResponsesTable;
  readonly items: ItemsTable;
  readonly event_chunks: EventChunksTable;
  readonly event_journal: EventJournalTable;
  readonly api_keys: ApiKeysTable;
  readonly files: FilesTable;
  readonly workers: WorkersTable;
  readonly conversations: ConversationsTable;
  readonly conversation_items: ConversationItemsTable;
  readonly conversation_locks: ConversationLocksTable;
  readonly ancestors: AncestorsTable;
  readonly deleted_conversations: DeletedConversationsTable;
  readonly split_calls: SplitCallsTable;
  readonly owner_usage: OwnerUsageTable;
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
  /** Who makes it; null once it is over, or left to whoever claims it. */
  readonly worker: number | null;
  /** JSON from which it can be begun again; null once it is over, or if it cannot. */
  readonly task: string | null;
  /** Whether it was made with `stream`: 0 or 1. */
  readonly streamed: number;
  /** Whether somebody asked its worker to stop it: 0 or 1. */
  readonly stop_asked: number;
  /** How often it was begun again by a worker that took it over. */
  readonly restarts: Generated<number>;
  /** The conversation it was made in; null: in none. */
  readonly conversation_id: Generated<string | null>;
  /** The sequence of the last item of that conversation before its own, so that a chain can tell what it saw. */
  readonly conversation_seen: Generated<number | null>;
}

/**
 * Responses that were deleted while others continued them. Nobody finds them but those, whose chains still hold their
 * items.
 */
export interface AncestorsTable
  extends Pick<
    ResponsesTable,
    "id" | "organization" | "project" | "status" | "previous_response_id" | "conversation_id" | "conversation_seen"
  > {
  /** Whether nothing continues it any more, so that it is to be erased with its items: 0 or 1. */
  readonly is_unused: number;
}

/**
 * One item of one response. The same item id may stand in many responses, because clients send items back with their
 * ids.
 */
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
  /** Whose journal it is; each worker has its own. */
  readonly worker: number;
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
  /**
   * JSON list of the owners that the key may act for, the one above first; null: for that one alone, and however it is
   * routed.
   */
  readonly owners: string | null;
  readonly name: string;
  readonly last_four: string;
  /** Null: as the settings say; so is the next. */
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly created_at: number;
  /** Null: never. */
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

/** The processes that serve this database, each for as long as it renews its lease. */
export interface WorkersTable {
  readonly id: Generated<number>;
  /** Where its process number means something. */
  readonly host: string;
  readonly pid: number;
  /**
   * When that process was started, as its system counts; null where that is not known. Numbers of processes come again.
   */
  readonly started: string | null;
  /** Milliseconds since 1970. */
  readonly expires_at: number;
}

export interface ConversationsTable {
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly created_at: number;
  /** JSON. */
  readonly metadata: string;
}

/**
 * One item of one conversation, in the order of `sequence`. When it is deleted, they stay for as long as a response is
 * there that was made in it.
 */
export interface ConversationItemsTable {
  readonly sequence: Generated<number>;
  readonly conversation_id: string;
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly body: string;
}

/** Conversations whose items are still there. */
export interface DeletedConversationsTable {
  readonly id: string;
}

/** Calls of a conversation of which a client has deleted one half: the call or its output. */
export interface SplitCallsTable {
  readonly conversation_id: string;
  readonly call_id: string;
}

/** How much is stored for an owner. Empty unless it is limited; the database keeps it by itself. */
export interface OwnerUsageTable {
  readonly organization: string;
  readonly project: string;
  readonly bytes: number;
}

/**
 * The response that is being made in a conversation. Of no effect once the response is not live and its worker is gone.
 */
export interface ConversationLocksTable {
  readonly conversation_id: string;
  readonly response_id: string;
  /** Who took it; another worker may make the response by now. */
  readonly worker: number;
}

/** Uploaded files. Times are Unix seconds. */
export interface FilesTable {
  /** Grows with each file. */
  readonly sequence: Generated<number>;
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly purpose: FileObject["purpose"];
  readonly filename: string;
  readonly mime_type: string;
  readonly bytes: number;
  readonly created_at: number;
  readonly expires_at: number | null;
  /** The worker that is writing its bytes or taking them away; nobody sees it meanwhile. Null: it is there. */
  readonly holder: number | null;
}
