import type { Generated } from "kysely";
import type {
  ContainerFile,
  ContainerMemoryLimit,
  FileObject,
  Response,
  RunKind,
} from "../../../generated/responses-api/types.ts";
import type {
  VectorModelsTable,
  VectorStoreBatchesTable,
  VectorStoreChunksTable,
  VectorStoreFilesTable,
  VectorStoreLeftoversTable,
  VectorStoreRemovalsTable,
  VectorStoresTable,
  VectorStoreVectorsTable,
} from "./vector-store-tables.ts";

/** The tables for Kysely. A test compares them with the tables that the migrations create. */
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
  readonly tool_exchanges: ToolExchangesTable;
  readonly vector_stores: VectorStoresTable;
  readonly vector_store_batches: VectorStoreBatchesTable;
  readonly vector_store_files: VectorStoreFilesTable;
  readonly vector_store_chunks: VectorStoreChunksTable;
  readonly vector_store_vectors: VectorStoreVectorsTable;
  readonly vector_store_leftovers: VectorStoreLeftoversTable;
  readonly vector_store_removals: VectorStoreRemovalsTable;
  readonly vector_models: VectorModelsTable;
  readonly tool_turns: ToolTurnsTable;
  readonly containers: ContainersTable;
  readonly container_files: ContainerFilesTable;
  readonly response_exchanges: ResponseExchangesTable;
}

export interface ResponsesTable {
  /** Increases with each stored response and is never used again. Items and events refer to it. */
  readonly number: Generated<number>;
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly status: Response["status"];
  readonly model: string;
  readonly previous_response_id: string | null;
  readonly created_at: number;
  readonly completed_at: number | null;
  /** The latest snapshot as JSON. */
  readonly body: string;
  /** Increases with each snapshot. */
  readonly version: number;
  /** The worker that makes the response; null once it has ended, or if any worker may claim it. */
  readonly worker: number | null;
  /** JSON from which the run can be restarted; null once it has ended, or if it cannot be restarted. */
  readonly task: string | null;
  /** Whether the request had `stream`: 0 or 1. */
  readonly streamed: number;
  /** Whether its worker was asked to stop it: 0 or 1. */
  readonly stop_asked: number;
  /** How often a worker restarted it since its latest step. A restart that ended by a clean release does not count. */
  readonly restarts: Generated<number>;
  /** How many steps had ended at the latest restart. */
  readonly restart_steps: Generated<number>;
  /** Nobody goes on with a run that waits before this time, in Unix milliseconds; null if it does not wait. */
  readonly due_at: Generated<number | null>;
  /** The failed attempts at its current turn, as JSON; null if there were none. */
  readonly turn_attempts: Generated<string | null>;
  /** The conversation that the response was made in, or null. */
  readonly conversation_id: Generated<string | null>;
  /**
   * The sequence of the conversation's last item before the response's own, so that a chain knows what the response
   * saw.
   */
  readonly conversation_seen: Generated<number | null>;
  /** How it was asked for; null for responses of earlier releases, like all that follow. */
  readonly kind: Generated<RunKind | null>;
  /** The API key that asked for it. */
  readonly key_id: Generated<string | null>;
  /** JSON object. */
  readonly metadata: Generated<string | null>;
  /** The beginning of the last text that was sent. */
  readonly input_preview: Generated<string | null>;
  /** Where it is not made exactly as asked: a JSON list, or null if it is. */
  readonly notes: Generated<string | null>;
  /** What lists show of the answer, as JSON; null until the response has ended. */
  readonly reply_summary: Generated<string | null>;
  /** When its events were made, as `readEventTimes` reads it; null until the response has ended. */
  readonly event_times: Generated<string | null>;
  /** Null where the response has no usage. */
  readonly input_tokens: Generated<number | null>;
  readonly output_tokens: Generated<number | null>;
  /** From request to end; null until then. */
  readonly duration_ms: Generated<number | null>;
  /** From request to the first text; null if there was none. */
  readonly first_text_ms: Generated<number | null>;
}

/** Responses that were deleted while others continued them. Only the chains of those can read them. */
export interface AncestorsTable
  extends Pick<
    ResponsesTable,
    "id" | "organization" | "project" | "status" | "previous_response_id" | "conversation_id" | "conversation_seen"
  > {
  /** The number that it had as a response; negative if it was deleted before responses had numbers. */
  readonly number: number;
  /** Whether no response continues it any more, so that it can be erased with its items: 0 or 1. */
  readonly is_unused: number;
}

/**
 * One item of one response. Several responses may have an item of the same id, because clients send items back with
 * their ids.
 */
export interface ItemsTable {
  /** Increases with each stored item: of several items with one id, the newest has the highest. */
  readonly sequence: Generated<number>;
  readonly id: string;
  readonly response_number: number;
  readonly organization: string;
  readonly project: string;
  readonly direction: ItemDirection;
  readonly position: number;
  readonly body: string;
}

/** Tables whose rows belong to a response. */
export type ResponseParts = "items" | "event_chunks";

export type ItemDirection = "input" | "output";

/** Events `first_number` to `last_number` of one response, without gaps. */
export interface EventChunksTable {
  readonly response_number: number;
  readonly first_number: number;
  readonly last_number: number;
  /** The events, one or more per line, as `event-blocks/` writes them. */
  readonly body: string;
}

/** Events of runs that do not fill a chunk yet: one row per commit, for all runs. Read only after a crash. */
export interface EventJournalTable {
  /** Each worker has its own journal. */
  readonly worker: number;
  /** How many characters the journal held before this row. */
  readonly position: number;
  /** In the format of `journal.ts`. */
  readonly body: string;
}

export interface ApiKeysTable {
  readonly id: string;
  readonly hash: string;
  readonly organization: string;
  readonly project: string;
  /**
   * JSON list of the owners that the key may act for, the one above first. Null: only that one, and routing headers are
   * ignored.
   */
  readonly owners: string | null;
  readonly name: string;
  readonly last_four: string;
  /** Null: the default of the settings applies. The same holds for the next column. */
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  /** JSON list of the kinds of tools that the key may use; null for all. */
  readonly tools: string | null;
  readonly created_at: number;
  /** In Unix seconds; null if the key never expires. */
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

/** The processes that serve this database and renew their leases. */
export interface WorkersTable {
  readonly id: Generated<number>;
  /** The host and process namespace in which the process number is valid. */
  readonly host: string;
  readonly pid: number;
  /**
   * Start time of that process in clock ticks of its system, because process numbers are reused; null if it is unknown.
   */
  readonly started: string | null;
  /** In Unix milliseconds. */
  readonly expires_at: number;
  /** The latest version of tasks that it can read; null for a worker of an earlier release. */
  readonly task_version: Generated<number | null>;
}

export interface ConversationsTable {
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly created_at: number;
  /** JSON object. */
  readonly metadata: string;
}

/**
 * One item of one conversation, in the order of `sequence`. Items of a deleted conversation stay while a response that
 * was made in it is stored.
 */
export interface ConversationItemsTable {
  readonly sequence: Generated<number>;
  readonly conversation_id: string;
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly body: string;
}

/** Deleted conversations whose items are still stored. */
export interface DeletedConversationsTable {
  readonly id: string;
}

/** Calls in a conversation of which a client has deleted one half: the call or its output. */
export interface SplitCallsTable {
  readonly conversation_id: string;
  readonly call_id: string;
}

/** How much is stored for each owner, kept by triggers. Empty unless storage is limited. */
export interface OwnerUsageTable {
  readonly organization: string;
  readonly project: string;
  readonly bytes: number;
}

/** The hold of a response on a conversation. It has no effect once the response is not live and its worker is gone. */
export interface ConversationLocksTable {
  readonly conversation_id: string;
  readonly response_id: string;
  /** The worker that took the hold; another worker may make the response by now. */
  readonly worker: number;
}

/** Uploaded files. Times are Unix seconds. */
export interface FilesTable {
  /** Increases with each file. */
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
  /**
   * The worker that is writing or removing the contents; the file is invisible meanwhile. Null once the file is
   * complete.
   */
  readonly holder: number | null;
}

/**
 * A call of a hosted tool and what the model was shown of its result. A row goes with the last stored item of its id.
 */
export interface ToolExchangesTable {
  readonly item_id: string;
  readonly response_id: string;
  readonly organization: string;
  readonly project: string;
  readonly call_id: string;
  readonly name: string;
  /** The label of an MCP server; null for the tools of this server. */
  readonly server: string | null;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
  readonly effect: "none" | "sandboxed" | "may_have";
  /** Null until the call has ended, like the next two. */
  readonly output: string | null;
  /** JSON list of content parts. */
  readonly parts: string | null;
  /** The last form of the item as JSON, whole, whatever the request includes. */
  readonly item: string | null;
  /** The approval that it spent; null if it needed none. */
  readonly approval_request_id: string | null;
  /** In Unix seconds. */
  readonly created_at: number;
  /** The turn of the model that made it, from 1; 0 if it ran before the model was asked. */
  readonly turn: number;
  /** What it used, as JSON; null until it has ended, or if it used nothing that is counted. */
  readonly usage: string | null;
  /** As in `FinishedExchange`. Null until it has ended, and for calls of earlier releases, which count as finished. */
  readonly outcome: "finished" | "unknown" | null;
}

/** A turn of the model in a background response with hosted tools. */
export interface ToolTurnsTable {
  readonly response_id: string;
  readonly organization: string;
  readonly project: string;
  /** From 1. */
  readonly number: number;
  /** The tokens that the turn used, as JSON. */
  readonly usage: string;
  /** What the model decided, as JSON; null for a turn of an earlier release. */
  readonly decision: Generated<string | null>;
}

/** Containers. Times are Unix seconds. */
export interface ContainersTable {
  /** Increases with each container. */
  readonly number: Generated<number>;
  /** Also the name of the folder of its files. */
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly name: string;
  readonly memory_limit: ContainerMemoryLimit;
  readonly created_at: number;
  readonly last_active_at: number;
  readonly expires_after_minutes: number;
  /** A running container counts as expired from then on. */
  readonly expires_at: number;
  /** A deleted container is invisible. Its row goes once its files are gone. */
  readonly state: Generated<"running" | "expired" | "deleted">;
  /** Whether its files are gone for ever: 0 or 1. */
  readonly is_emptied: Generated<number>;
  /** The session whose call was the last to begin; null if there was none. */
  readonly session_id: Generated<string | null>;
  /** What the column above was before the latest call. */
  readonly previous_session_id: Generated<string | null>;
}

/** Files of containers. New contents at a path are a new row. */
export interface ContainerFilesTable {
  /** Increases with each file. */
  readonly number: Generated<number>;
  readonly id: string;
  readonly container_id: string;
  readonly organization: string;
  readonly project: string;
  readonly path: string;
  readonly bytes: number;
  readonly created_at: number;
  readonly source: ContainerFile["source"];
  /** The uploaded file that was first copied to this path; null if none was. */
  readonly upload_id: string | null;
  /** As in `files`: the worker that is writing or removing the contents. */
  readonly holder: number | null;
}

/** What other servers were asked for a response. A row goes with its response. */
export interface ResponseExchangesTable {
  /** Increases with each exchange. */
  readonly sequence: Generated<number>;
  readonly id: string;
  readonly response_id: string;
  readonly organization: string;
  readonly project: string;
  /** In Unix seconds. */
  readonly created_at: number;
  /** What it counts of its owner's room. */
  readonly bytes: number;
  /** JSON. */
  readonly body: string;
}
