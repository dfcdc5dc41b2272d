import type { FileObject, Response, RunKind } from "@antiphon/contracts/responses-api/types.ts";
import type { FaceName } from "@antiphon/domain/faces.ts";
import type { CallEffect } from "@antiphon/domain/hosted-tool.ts";
import type { BudgetPeriod } from "@antiphon/domain/keys.ts";
import type { UsageKind } from "@antiphon/domain/usage.ts";
import type { Generated } from "kysely";
import type { BatchesTable, BatchLinesTable, BatchRunsTable } from "./batch-tables.ts";
import type { ContainerFilesTable, ContainersTable, SkillsTable, SkillVersionsTable } from "./container-tables.ts";
import type { SteersTable } from "./steer-table.ts";
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
import type { WebhookDeliveriesTable, WebhookEndpointsTable } from "./webhook-tables.ts";

/** The tables for Kysely. A test compares them with the tables that the migrations create. */
export interface Database {
  readonly responses: ResponsesTable;
  readonly items: ItemsTable;
  readonly event_chunks: EventChunksTable;
  readonly event_journal: EventJournalTable;
  readonly api_keys: ApiKeysTable;
  readonly files: FilesTable;
  readonly workers: WorkersTable;
  readonly create_keys: CreateKeysTable;
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
  readonly usage_counts: UsageCountsTable;
  readonly skills: SkillsTable;
  readonly skill_versions: SkillVersionsTable;
  readonly batches: BatchesTable;
  readonly batch_lines: BatchLinesTable;
  readonly batch_runs: BatchRunsTable;
  readonly webhook_endpoints: WebhookEndpointsTable;
  readonly webhook_deliveries: WebhookDeliveriesTable;
  readonly steers: SteersTable;
}

export interface ResponsesTable {
  /** Increases with each stored response and is never reused. Items and events refer to it. */
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
  /** JSON for restarting the run; null once it has ended, or if it cannot be restarted. */
  readonly task: string | null;
  /** Whether the request had `stream`: 0 or 1. */
  readonly streamed: number;
  /** Whether its worker has a request to stop it: 0 or 1. */
  readonly stop_asked: number;
  /** Restarts by a worker since the latest step. Restarts that ended with a clean release do not count. */
  readonly restarts: Generated<number>;
  /** The number of completed steps at the latest restart. */
  readonly restart_steps: Generated<number>;
  /** A suspended run is not continued before this time, in Unix milliseconds; null if it is not suspended. */
  readonly due_at: Generated<number | null>;
  /** The failed attempts at its current turn, as JSON; null if there were none. */
  readonly turn_attempts: Generated<string | null>;
  /** The conversation of the response, or null. */
  readonly conversation_id: Generated<string | null>;
  /** The sequence of the conversation's last item before the response's own: what the response saw, for chains. */
  readonly conversation_seen: Generated<number | null>;
  /** The kind of its request. Null for responses of earlier releases, like all following columns. */
  readonly kind: Generated<RunKind | null>;
  /** The API key of the request. */
  readonly key_id: Generated<string | null>;
  /** JSON object. */
  readonly metadata: Generated<string | null>;
  /** The beginning of the last text in the request. */
  readonly input_preview: Generated<string | null>;
  /** Deviations from the request: a JSON list, or null. */
  readonly notes: Generated<string | null>;
  /** The face of the API by which it was asked for; null for the Responses API. */
  readonly face: Generated<FaceName | null>;
  /** What its face needs to show it: a JSON object, or null. */
  readonly face_notes: Generated<string | null>;
  /** The answer's part of lists, as JSON; null until the response has ended. */
  readonly reply_summary: Generated<string | null>;
  /** The times of its events in the format of `readEventTimes`; null until the response has ended. */
  readonly event_times: Generated<string | null>;
  /** Null if the response has no usage. */
  readonly input_tokens: Generated<number | null>;
  readonly output_tokens: Generated<number | null>;
  /** From request to end; null until then. */
  readonly duration_ms: Generated<number | null>;
  /** From request to the first text; null if there was none. */
  readonly first_text_ms: Generated<number | null>;
  /** When a pause of its run was asked for, in Unix seconds; null if it is not paused. */
  readonly paused_at: Generated<number | null>;
  /** Whether input was added to it: 0 or 1. */
  readonly is_steered: Generated<number>;
  /** The response that took this input; null if there is none. */
  readonly successor_id: Generated<string | null>;
}

/** Responses that were deleted while others continued them. Only chains of continuing responses can read them. */
export interface AncestorsTable
  extends Pick<
    ResponsesTable,
    "id" | "organization" | "project" | "status" | "previous_response_id" | "conversation_id" | "conversation_seen"
  > {
  /** Its number as a response; negative if it was deleted before responses had numbers. */
  readonly number: number;
  /** Whether no response continues it any more, so that it can be erased with its items: 0 or 1. */
  readonly is_unused: number;
}

/**
 * One item of one response. Several responses may have items with the same id, because clients send items back with
 * their ids.
 */
export interface ItemsTable {
  /** Increases with each stored item: among items with one id, the newest has the highest. */
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
  /** The events, one or more per line, in the format of `event-blocks/`. */
  readonly body: string;
}

/** Events of runs that do not fill a chunk yet: one row per commit, for all runs. Read only after a crash. */
export interface EventJournalTable {
  /** Each worker has its own journal. */
  readonly worker: number;
  /** The number of characters in the journal before this row. */
  readonly position: number;
  /** In the format of `journal.ts`. */
  readonly body: string;
}

/**
 * What was used: each answer is counted in the row of its minute and in that of its day. Rows of minutes are deleted
 * after a time, those of days are not.
 */
export interface UsageCountsTable {
  /** The seconds that the row stands for: 60 or 86,400. */
  readonly width: number;
  /** When they begin, in Unix seconds. */
  readonly start_time: number;
  readonly organization: string;
  readonly project: string;
  /** Empty if the key is not known. */
  readonly key_id: string;
  readonly kind: UsageKind;
  readonly model: string;
  readonly service_tier: string;
  /** Empty if the model has no price. */
  readonly currency: string;
  /** Answers. */
  readonly requests: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  /** Calls of tools, or sessions. */
  readonly calls: number;
  /** The price in billionths of the currency. */
  readonly nanos: number;
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
  /** Null: the server's default. Also for the next column. */
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  /** JSON list of the kinds of tools that the key may use; null for all. */
  readonly tools: string | null;
  readonly created_at: number;
  /** In Unix seconds; null if the key never expires. */
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  /** Whether it may see usage and change keys: 0 or 1. */
  readonly is_operator: Generated<number>;
  /** What it may use in a period; null without a budget, like the next two. */
  readonly budget_period: Generated<BudgetPeriod | null>;
  /** In billionths of the currency of the prices. */
  readonly budget_nanos: Generated<number | null>;
  readonly budget_tokens: Generated<number | null>;
}

/** Keys that clients gave to their creates. */
export interface CreateKeysTable {
  readonly organization: string;
  readonly project: string;
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: string;
  /** What is created under the key; null until it has a name. */
  readonly subject_id: string | null;
  /** 1 if the subject is kept. */
  readonly is_kept: 0 | 1;
  /** The worker that creates the subject; null once it is done. */
  readonly worker: number | null;
  readonly repeats: number;
  readonly created_at: number;
  /** The answer, as its interface wrote it; null if it can be made anew of the subject, or is not there yet. */
  readonly answer: Generated<string | null>;
}

/** The processes that serve this database and renew their leases. */
export interface WorkersTable {
  readonly id: Generated<number>;
  /** The host and process namespace of the process number. */
  readonly host: string;
  readonly pid: number;
  /**
   * The start time of that process in clock ticks of its system, because process numbers are reused; null if unknown.
   */
  readonly started: string | null;
  /** In Unix milliseconds. */
  readonly expires_at: number;
  /** The latest version of tasks that it can read; null for a worker of an earlier release. */
  readonly task_version: Generated<number | null>;
  /** Up to where the changes of its redo log are stored, in bytes since the log began. */
  readonly redo_position: Generated<number>;
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
 * One item of one conversation, ordered by `sequence`. Items of a deleted conversation remain while a response made in
 * it is stored.
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

/** Calls in a conversation that lost their call or output to a client's delete. */
export interface SplitCallsTable {
  readonly conversation_id: string;
  readonly call_id: string;
}

/** The stored bytes per owner, maintained by triggers. Empty unless storage is limited. */
export interface OwnerUsageTable {
  readonly organization: string;
  readonly project: string;
  readonly bytes: number;
}

/** A response's lock on a conversation. It has no effect once the response is not live and its worker is gone. */
export interface ConversationLocksTable {
  readonly conversation_id: string;
  readonly response_id: string;
  /** The worker that took the lock; another worker may make the response by now. */
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
   * The worker that is writing or removing the contents; meanwhile, the file is invisible. Null once the file is
   * complete.
   */
  readonly holder: number | null;
}

/** A call of a hosted tool, and its result as the model saw it. Deleted with the last stored item of its id. */
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
  readonly effect: CallEffect;
  /** Null until the call has ended, like the next two. */
  readonly output: string | null;
  /** JSON list of content parts. */
  readonly parts: string | null;
  /** The last form of the item as JSON, complete, whatever the request includes. */
  readonly item: string | null;
  /** The approval used by the call; null if it needed none. */
  readonly approval_request_id: string | null;
  /** In Unix seconds. */
  readonly created_at: number;
  /** The model's turn that made the call, from 1; 0 if it ran before the first turn. */
  readonly turn: number;
  /** The call's usage as JSON; null until it has ended, or if nothing is counted. */
  readonly usage: string | null;
  /** As in `FinishedExchange`. Null until it has ended, and for calls of earlier releases, which count as finished. */
  readonly outcome: "finished" | "unknown" | null;
  /** JSON list of `CallAttempt`. Null for calls of earlier releases. */
  readonly attempts: string | null;
  /** How a person has settled an unknown outcome: JSON of `EffectSettlement`. Null if nobody has. */
  readonly settlement: string | null;
}

/** A turn of the model in a background response with hosted tools. */
export interface ToolTurnsTable {
  readonly response_id: string;
  readonly organization: string;
  readonly project: string;
  /** From 1. */
  readonly number: number;
  /** The token usage of the turn, as JSON. */
  readonly usage: string;
  /** The model's decision as JSON; null for a turn of an earlier release. */
  readonly decision: Generated<string | null>;
}

/** Requests to other servers for a response. A row is removed with its response. */
export interface ResponseExchangesTable {
  /** Increases with each exchange. */
  readonly sequence: Generated<number>;
  readonly id: string;
  readonly response_id: string;
  readonly organization: string;
  readonly project: string;
  /** In Unix seconds. */
  readonly created_at: number;
  /** The bytes counted for its owner. */
  readonly bytes: number;
  /** JSON. */
  readonly body: string;
}
